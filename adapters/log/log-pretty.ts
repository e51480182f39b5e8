// The readable form of a log line, for a person at a terminal. Text from outside may carry escape sequences that would move
import { parseJson } from "../../contracts/src/parse-json.ts";

// the cursor or recolour the screen, so every control character is shown as its escape.

const colours: Readonly<Record<string, string>> = { debug: "90", info: "36", warn: "33", error: "31" };

/** A readable line (with its line break) from a JSON line; what is no JSON object is passed on, made harmless. */
export function prettyLine(jsonLine: string, colour: boolean): string {
  const fields = parsed(jsonLine);
  if (fields === undefined) return `${harmless(jsonLine.trimEnd())}\n`;
  const { level, time, message, service, error, ...rest } = fields;
  const word = String(level).toUpperCase().padEnd(5);
  const head = [
    typeof time === "string" ? time.slice(11, 23) : "--:--:--.---",
    colour ? `\u001b[${colours[String(level)] ?? "0"}m${word}\u001b[0m` : word,
    ...(service === undefined ? [] : [`${harmless(shown(service))}:`]),
    harmless(shown(message)),
  ];
  const details = Object.entries(rest).map(([name, value]) => `${harmless(name)}=${harmless(shown(value))}`);
  return `${[...head, ...details].join(" ")}${error === undefined ? "" : prettyError(error)}\n`;
}

function parsed(jsonLine: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = parseJson(jsonLine);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    // Not one of ours; the caller shows it as it stands.
    return undefined;
  }
}

function shown(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value) ?? "";
  return value;
}

/** An error on its own indented lines, its stack readable, its cause below it. */
function prettyError(error: unknown, indent = "    "): string {
  if (typeof error !== "object" || error === null) return ` error=${harmless(shown(error))}`;
  const { stack, cause, name, message, ...rest } = error as Record<string, unknown>;
  const story = typeof stack === "string" ? stack.split("\n") : [`${shown(name)}: ${shown(message)}`];
  const facts = Object.entries(rest).map(([key, value]) => `${key}=${shown(value)}`);
  const lines = [...story.map((line) => line.trim()), ...facts].map((line) => `\n${indent}${harmless(line)}`).join("");
  if (cause === undefined) return lines;
  return `${lines}\n${indent}caused by:${prettyError(cause, `${indent}  `)}`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
const control = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

function harmless(text: string): string {
  return text.replaceAll(control, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
