// Where submission files lie. Nothing is made before the first line is written, so that a platform that reports nothing has no folder for it.
//
// What every adapter promises (testkit/conformance/filing-files.ts):
//  1. What `append` resolved for is durable, and read as it was written.
//  2. `append` adds at exactly that length; a file of any other length is not touched, and the answer is false.
//  3. What was set aside has the other name, and its own is free; a name that is taken is not replaced, and the answer is false.
//  4. A folder is readable by its owner alone, and so is a file.
export interface FilingFiles {
  /** Bytes; undefined when there is no such file. */
  size(path: FilingPath): Promise<number | undefined>;
  /** At most so many bytes from there on; fewer at the end. */
  read(path: FilingPath, from: number, length: number): Promise<Uint8Array>;
  append(path: FilingPath, at: number, bytes: Uint8Array): Promise<boolean>;
  /** Gives a file another name in its folder. */
  setAside(path: FilingPath, name: string): Promise<boolean>;
}

/** Folders and the file's name, of letters, digits and `_ . -` alone. */
export type FilingPath = readonly string[];
