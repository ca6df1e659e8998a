//! Refinable partitions of 0..n (Valmari and Lehtinen, "Efficient minimization of DFAs with partial
//! transition functions", STACS 2008): mark some elements, then split every set into its marked and
//! its unmarked part, in time proportional to the number of marked elements.

/// A partition of 0..n into numbered sets.
#[derive(Clone, Debug)]
pub(crate) struct Partition {
    /// All elements, set by set; in each set the marked ones first.
    pub(crate) elements: Vec<u32>,
    /// Where in `elements` an element stands.
    location: Vec<u32>,
    /// The set of an element.
    pub(crate) set_of: Vec<u32>,
    /// Where in `elements` a set begins and ends.
    bounds: Vec<(u32, u32)>,
    /// How many elements of a set are marked.
    marked: Vec<u32>,
    /// Sets with a marked element.
    touched: Vec<u32>,
}

impl Partition {
    /// Sets of the elements with equal keys, in the order of the keys, which are below `keys`.
    ///
    /// # Panics
    /// With 2³² elements, which memory forbids long before.
    pub(crate) fn by_key(keys: usize, key_of: &[u32]) -> Self {
        let len = u32::try_from(key_of.len()).expect("memory holds fewer elements");
        let mut fill = vec![0_u32; keys + 1];
        for &key in key_of {
            fill[key as usize + 1] += 1;
        }
        let mut bounds = Vec::new();
        let mut set_of_key = vec![0_u32; keys];
        for key in 0..keys {
            let (start, size) = (fill[key], fill[key + 1]);
            set_of_key[key] = u32::try_from(bounds.len()).expect("no more sets than elements");
            if size > 0 {
                bounds.push((start, start + size));
            }
            fill[key + 1] += start;
        }
        let mut elements = vec![0; key_of.len()];
        let mut location = vec![0; key_of.len()];
        for (element, &key) in (0..len).zip(key_of) {
            let slot = &mut fill[key as usize];
            elements[*slot as usize] = element;
            location[element as usize] = *slot;
            *slot += 1;
        }
        let set_of = key_of.iter().map(|&key| set_of_key[key as usize]).collect();
        let marked = vec![0; bounds.len()];
        Self { elements, location, set_of, bounds, marked, touched: Vec::new() }
    }

    /// Number of sets.
    pub(crate) fn count(&self) -> usize {
        self.bounds.len()
    }

    /// Where in `elements` the members of a set stand.
    pub(crate) fn range(&self, set: usize) -> std::ops::Range<usize> {
        let (start, end) = self.bounds[set];
        start as usize..end as usize
    }

    /// Marks an element; once or several times is the same.
    pub(crate) fn mark(&mut self, element: u32) {
        let set = self.set_of[element as usize] as usize;
        let at = self.location[element as usize];
        let edge = self.bounds[set].0 + self.marked[set];
        if at < edge {
            return;
        }
        let displaced = self.elements[edge as usize];
        self.elements[at as usize] = displaced;
        self.location[displaced as usize] = at;
        self.elements[edge as usize] = element;
        self.location[element as usize] = edge;
        if self.marked[set] == 0 {
            self.touched.push(self.set_of[element as usize]);
        }
        self.marked[set] += 1;
    }

    /// Splits every set with marked and unmarked elements; the smaller part gets the new number.
    /// No element is marked afterwards.
    pub(crate) fn split(&mut self) {
        while let Some(set) = self.touched.pop() {
            let set = set as usize;
            let (start, end) = self.bounds[set];
            let middle = start + std::mem::take(&mut self.marked[set]);
            if middle == end {
                continue;
            }
            let new = u32::try_from(self.bounds.len()).expect("no more sets than elements");
            let part = if middle - start <= end - middle {
                self.bounds[set].0 = middle;
                (start, middle)
            } else {
                self.bounds[set].1 = middle;
                (middle, end)
            };
            for &element in &self.elements[part.0 as usize..part.1 as usize] {
                self.set_of[element as usize] = new;
            }
            self.bounds.push(part);
            self.marked.push(0);
        }
    }
}
