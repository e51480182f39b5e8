// A small file in the data folder that monitors outside of the platform read: it is replaced whole, so that nobody reads half of it.
export interface StatusFile {
  write(content: object): Promise<void>;
}
