# The static binary alone, as a user without rights:
#
#     packaging/archive x86_64-unknown-linux-musl
#     docker build -t dumptool .
#     docker run --rm --read-only --network none -v "$PWD:/dumps:ro" dumptool top app.hprof
#
# Plain files of any size need no space. Compressed dumps and standard input go to a temporary file; in a read-only root file system they stay in
# memory, up to 256 MiB each, and larger ones need `--tmpfs /tmp`. The user 65532 must be able to read the dumps; `--user "$(id -u)"` reads those of the caller, and writes outputs in a folder of the caller.
FROM scratch
ARG TARGET=x86_64-unknown-linux-musl
COPY target/${TARGET}/release/dumptool /dumptool
COPY LICENSE THIRD-PARTY.md /
USER 65532:65532
WORKDIR /dumps
ENTRYPOINT ["/dumptool"]
CMD ["--help"]
