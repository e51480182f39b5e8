// Lines of bytes out of pieces of bytes, as they come from a file or a socket. A line that grows past its limit ends the reading, so that a file
// without line feeds cannot fill the memory.

export interface LineSplitter {
  /** Hands every line that this piece completes to `onLine`, without its line feed. A line is only good until the call returns. */
  push(piece: Uint8Array, onLine: (line: Uint8Array) => void): "ok" | "too long";
  /** What came after the last line feed. */
  readonly rest: Uint8Array;
}

const lineFeed = 0x0a;

export function createLineSplitter(lineBytesMax: number): LineSplitter {
  let rest = new Uint8Array(0);
  let tooLong = false;
  return {
    push(piece, onLine) {
      let start = 0;
      while (!tooLong) {
        const end = piece.indexOf(lineFeed, start);
        const part = piece.subarray(start, end < 0 ? piece.length : end);
        if (rest.length + part.length > lineBytesMax) {
          tooLong = true;
        } else if (end < 0) {
          rest = joined(rest, part);
          break;
        } else {
          const line = rest.length === 0 ? part : joined(rest, part);
          rest = new Uint8Array(0);
          onLine(line);
          start = end + 1;
        }
      }
      return tooLong ? "too long" : "ok";
    },
    get rest() {
      return rest;
    },
  };
}

function joined(left: Uint8Array, right: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(left.length + right.length);
  bytes.set(left);
  bytes.set(right, left.length);
  return bytes;
}
