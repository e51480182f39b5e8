// What is done to the terminal and taken back: the second screen, marked pastes, raw keys, the hidden cursor. Leaving twice is leaving once, so that every way out may
// call it.
import { writeSync } from "node:fs";

export interface TerminalStreams {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
}

const enterSequence = "\u001b[?1049h\u001b[?2004h\u001b[H\u001b[J";
const leaveSequence = "\u001b[?2004l\u001b[?25h\u001b[?2026l\u001b[?1049l";

interface TerminalModes {
  enter(): void;
  leave(): void;
}

export function terminalModes({ stdin, stdout }: TerminalStreams): TerminalModes {
  let isEntered = false;
  return {
    enter() {
      if (isEntered) return;
      isEntered = true;
      stdout.write(enterSequence);
    },
    leave() {
      if (!isEntered) return;
      isEntered = false;
      if (stdin.isTTY === true) stdin.setRawMode(false);
      writeNow(stdout, leaveSequence);
    },
  };
}

/** At once: the process may end before a stream has written what it was given. */
function writeNow(stdout: NodeJS.WriteStream, text: string): void {
  const { fd } = stdout as { readonly fd?: number };
  if (fd === undefined) {
    stdout.write(text);
    return;
  }
  try {
    writeSync(fd, text);
  } catch (error) {
    // A terminal that is gone needs nothing taken back; a full one gets it when it can.
    if ((error as NodeJS.ErrnoException).code === "EAGAIN") stdout.write(text);
  }
}

/** The second screen is cleared from its first line down, and nothing that is scrolled away is touched. */
export const clearSequence = "\u001b[H\u001b[J";
