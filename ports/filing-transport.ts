// The way to a regulator: folders into which files are brought whole, and one from which its feedback comes.
//
// What every adapter promises (testkit/conformance/filing-transport.ts):
//  1. A file appears in the folder of what is complete only whole: it is brought beside, its size is compared, and then it is renamed.
//  2. What lies there under the name is looked at first: the same bytes are THERE and nothing is sent; other bytes are FILING_NAME_TAKEN and stay.
//  3. After an outcome that is not known the same call again comes to the same. What a torn attempt left beside is replaced.
//  4. Anything else that goes wrong is FILING_UNREACHABLE, and says what.
//  5. Of the feedback folder only plain files with harmless names are listed, and at most so many bytes of one are read.
export interface FilingTransport {
  put(file: { readonly name: string; readonly content: Uint8Array }): Promise<"SENT" | "THERE">;
  feedback(): Promise<readonly FeedbackListed[]>;
  /** Rejects where it has more bytes. */
  read(name: string, bytesMax: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

export interface FeedbackListed {
  readonly name: string;
  readonly bytes: number;
}
