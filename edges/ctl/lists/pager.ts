// A list that is longer than the terminal is shown page by page: Enter shows the next one, q ends it. Only where a person sits at both ends; PAGER=cat, as other
// programs know it, switches it off.
import type { Environment, Terminal } from "../terminal.ts";

export async function writePaged(
  terminal: Terminal,
  environment: Environment,
  text: string,
  signal: AbortSignal,
): Promise<void> {
  const lines = text.split("\n");
  const { size } = terminal;
  const isOff = environment["PAGER"] === "cat" || environment["TERM"] === "dumb";
  if (size === undefined || !terminal.interactive || isOff || lines.length < size.rows) {
    terminal.write(`${text}\n`);
    return;
  }
  const pageRows = Math.max(1, size.rows - 1);
  for (let from = 0; from < lines.length; from += pageRows) {
    terminal.write(`${lines.slice(from, from + pageRows).join("\n")}\n`);
    const shown = Math.min(lines.length, from + pageRows);
    if (shown === lines.length) return;
    const question = `${shown} of ${lines.length} lines. Enter shows more, q ends it: `;
    if ((await terminal.ask(question, "PAGER=cat", signal)).toLowerCase().startsWith("q")) return;
  }
}
