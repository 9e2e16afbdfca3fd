//! A profile as a stream of samples, in the order of the file.
