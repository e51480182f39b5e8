// Ink on the terminal: drawn at most ten times a second, on an output of which it never believes that a frame fills it, so that it never clears the terminal.
import { render } from "ink";
import { App, type AppProps } from "./app.tsx";
import type { TerminalStreams } from "./terminal-modes.ts";

/** More than any terminal has: a frame of that height would be cleared and drawn anew every time. */
const rowsNever = 100_000;
const framesPerSecondMax = 10;
export const columnsUsual = 80;

export function mount(props: AppProps, { stdin, stdout }: TerminalStreams): () => void {
  const { unmount } = render(<App {...props} />, {
    stdin,
    // What Ink asks of a stream is below; a resize is drawn anew by whoever mounted this.
    stdout: inkOutput(stdout) as unknown as NodeJS.WriteStream,
    exitOnCtrlC: false,
    patchConsole: false,
    maxFps: framesPerSecondMax,
  });
  return () => unmount();
}

function inkOutput(stdout: NodeJS.WriteStream) {
  const nothing = (): void => undefined;
  return {
    isTTY: true,
    rows: rowsNever,
    get columns() {
      // A terminal that does not know its size says 0.
      return stdout.columns || columnsUsual;
    },
    get destroyed() {
      return stdout.destroyed;
    },
    write: (text: string) => stdout.write(text),
    on: nothing,
    off: nothing,
    removeListener: nothing,
  };
}
