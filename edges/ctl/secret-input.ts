// A secret from a person or a program: on stdin, never as an argument, where the process list and the shell's history would have it. On a terminal it is typed
// without being shown.
import { Writable } from "node:stream";
import { interrupted, usageRefusal } from "./failure.ts";
import type { Terminal } from "./terminal.ts";

/** As the secrets store takes it; one more byte would be refused there. */
const valueBytesMax = 64 * 1_024;

/** Without the line end that `echo` and editors add. */
export async function readSecret(terminal: Terminal, question: string, signal: AbortSignal): Promise<string> {
  const { stdin } = terminal.streams;
  if (stdin.isTTY === true && !terminal.interactive) {
    throw usageRefusal("There is no terminal to ask on: pipe the value into stdin.");
  }
  const value = terminal.interactive ? await typed(terminal, question, signal) : await piped(stdin);
  if (value === "") throw usageRefusal("The value is empty: pipe it into stdin, or type it when asked.");
  return value;
}

async function piped(stdin: NodeJS.ReadStream): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of stdin) {
    const buffer = Buffer.isBuffer(part) ? part : Buffer.from(String(part));
    bytes += buffer.length;
    // The line end at its end does not count.
    if (bytes > valueBytesMax + 2) throw usageRefusal(`The value on stdin has more than ${valueBytesMax} bytes.`);
    parts.push(buffer);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
      .decode(Buffer.concat(parts))
      .replace(/\r?\n$/, "");
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown;
    throw usageRefusal("The value on stdin is not text in UTF-8; encode it first, for example with base64.");
  }
}

/** The line editor works on the terminal's keys and writes what it would show nowhere. */
async function typed({ streams: { stdin, stderr } }: Terminal, question: string, signal: AbortSignal): Promise<string> {
  const { createInterface } = await import("node:readline");
  const nowhere = new Writable({ write: (_part, _encoding, done) => done() });
  return new Promise((resolve, reject) => {
    const lines = createInterface({ input: stdin, output: nowhere, terminal: true, historySize: 0 });
    let answered = false;
    const stop = (): void => lines.close();
    lines.once("SIGINT", stop);
    lines.once("close", () => {
      signal.removeEventListener("abort", stop);
      stderr.write("\n");
      if (!answered) reject(interrupted());
    });
    signal.addEventListener("abort", stop, { once: true });
    lines.question("", (line) => {
      answered = true;
      lines.close();
      resolve(line);
    });
    // Only now is the terminal quiet: what is typed before the question would be shown.
    stderr.write(question);
  });
}
