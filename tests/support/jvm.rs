//! Lays objects out in memory as a JVM does, field by field, and writes the dump of them.

use super::hprof::File;

pub const OBJECT: u64 = 0x7000_0000;
pub const CLASS: u64 = 0x7000_1000;
const BYTES: u64 = 0x7000_2000;
const OBJECTS: u64 = 0x7000_3000;
const FIRST_CLASS: u64 = 0x7001_0000;

/// Type tags: reference, byte, short, int, long.
pub const KINDS: [u8; 5] = [2, 8, 9, 10, 11];

/// How objects are laid out, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Jvm {
    pub references: u64,
    pub header: u64,
    pub array: u64,
    pub alignment: u64,
}

impl Jvm {
    fn width(&self, kind: u8) -> u64 {
        match kind {
            2 => self.references,
            8 => 1,
            9 => 2,
            10 => 4,
            _ => 8,
        }
    }

    /// Bytes of an object with these fields, superclasses first. Each takes the first free place
    /// that suits it, as since JDK 15.
    pub fn instance(&self, classes: &[Vec<u8>]) -> u64 {
        let mut taken: Vec<bool> = vec![true; self.header as usize];
        for own in classes {
            let mut widths: Vec<usize> =
                own.iter().map(|&kind| self.width(kind) as usize).collect();
            widths.sort_unstable_by(|a, b| b.cmp(a));
            for width in widths {
                let is_free = |at: &usize| {
                    (*at..at + width).all(|byte| !taken.get(byte).copied().unwrap_or(false))
                };
                let at = (0..).step_by(width).find(is_free).unwrap();
                taken.resize(taken.len().max(at + width), false);
                taken[at..at + width].fill(true);
            }
        }
        (taken.len() as u64).next_multiple_of(self.alignment)
    }

    pub fn bytes(&self, count: u64) -> u64 {
        (self.array + count).next_multiple_of(self.alignment)
    }

    pub fn objects(&self, count: u64) -> u64 {
        (self.array.next_multiple_of(self.references) + count * self.references)
            .next_multiple_of(self.alignment)
    }
}

/// A heap in the making. Objects follow each other.
pub struct Heap {
    jvm: Jvm,
    file: File,
    classes: Vec<Vec<u8>>,
    objects: Vec<Vec<u8>>,
    /// Addresses with sizes.
    pub sizes: Vec<(u64, u64)>,
    next: u64,
    /// Own fields of each class, and its superclass.
    layouts: Vec<(Option<usize>, Vec<u8>)>,
}

impl Heap {
    pub fn new(jvm: Jvm) -> Self {
        let mut file = File::new("1.0.2", 8);
        file.loads(&[
            (OBJECT, "java/lang/Object"),
            (CLASS, "java/lang/Class"),
            (BYTES, "[B"),
            (OBJECTS, "[Ljava/lang/Object;"),
        ]);
        let class_data = file.string("classData");
        let classes = vec![
            file.class(OBJECT, 0, 0, &[], &[]),
            file.class(CLASS, OBJECT, 0, &[], &[(class_data, 2)]),
            file.class(BYTES, OBJECT, 0, &[], &[]),
            file.class(OBJECTS, OBJECT, 0, &[], &[]),
        ];
        Self {
            jvm,
            file,
            classes,
            objects: Vec::new(),
            sizes: Vec::new(),
            next: 0x1000_0000,
            layouts: Vec::new(),
        }
    }

    /// Adds a class; its number.
    pub fn class(&mut self, parent: Option<usize>, own: &[u8]) -> usize {
        let number = self.layouts.len();
        let id = FIRST_CLASS + 0x100 * number as u64;
        self.file.load(id, &format!("app/Class{number}"));
        let name = self.file.string(&format!("field{number}"));
        let fields: Vec<_> = own.iter().map(|&kind| (name, kind)).collect();
        let parent_id = parent.map_or(OBJECT, |parent| FIRST_CLASS + 0x100 * parent as u64);
        self.classes.push(self.file.class(id, parent_id, 0, &[], &fields));
        self.layouts.push((parent, own.to_vec()));
        number
    }

    /// Fields of a class and those above it, superclasses first.
    fn chain(&self, class: usize) -> Vec<Vec<u8>> {
        let mut chain: Vec<_> = std::iter::successors(Some(class), |&class| self.layouts[class].0)
            .map(|class| self.layouts[class].1.clone())
            .collect();
        chain.reverse();
        chain
    }

    fn place(&mut self, size: u64) -> u64 {
        let at = self.next;
        self.sizes.push((at, size));
        self.next += size;
        at
    }

    pub fn instance(&mut self, class: usize) -> &mut Self {
        let chain = self.chain(class);
        let values: usize = chain
            .iter()
            .flatten()
            .map(|&kind| if kind == 2 { 8 } else { self.jvm.width(kind) as usize })
            .sum();
        let at = self.place(self.jvm.instance(&chain));
        self.objects.push(self.file.instance(
            at,
            FIRST_CLASS + 0x100 * class as u64,
            &[&vec![0; values]],
        ));
        self
    }

    /// A java.lang.Object.
    pub fn object(&mut self) -> &mut Self {
        let at = self.place(self.jvm.instance(&[]));
        self.objects.push(self.file.instance(at, OBJECT, &[]));
        self
    }

    pub fn bytes(&mut self, count: u64) -> &mut Self {
        let at = self.place(self.jvm.bytes(count));
        self.objects.push(self.file.array(at, 8, count as u32, &vec![0; count as usize]));
        self
    }

    pub fn references(&mut self, count: u64) -> &mut Self {
        let at = self.place(self.jvm.objects(count));
        self.objects.push(self.file.objects(at, OBJECTS, &vec![0; count as usize]));
        self
    }

    /// Leaves memory free: garbage that the dump does not have.
    pub fn gap(&mut self, units: u64) -> &mut Self {
        self.next += units * self.jvm.alignment;
        self
    }

    /// The file, with objects in the order that the function gives them.
    pub fn finish(mut self, reorder: impl FnOnce(&mut Vec<Vec<u8>>)) -> Vec<u8> {
        reorder(&mut self.objects);
        self.classes.append(&mut self.objects);
        self.file.segment(&self.classes).end()
    }
}
