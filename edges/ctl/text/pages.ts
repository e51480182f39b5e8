// The help pages that belong to no verb, as data: exit codes and environment variables. docs/ctl.md prints the same.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { interruptedExit } from "../failure.ts";
import type { Answer } from "../verbs/verb.ts";
import { pairs } from "./text.ts";

const sentences: Readonly<Record<keyof typeof exitCodes, string>> = {
  ok: "It was done; an empty list is also that.",
  failed: "It failed, for a reason that has no number of its own.",
  usage: "The command line is wrong, or the server could not understand the request.",
  declined: "A confirmation was missing or wrong; nothing was done.",
  notLoggedIn: "Nobody is logged in, or the login ran out or was revoked.",
  forbidden: "You are known and may not do this, or the second factor was wrong.",
  refused: "Risk limits or a halt refused it.",
  conflict: "Somebody else was faster, it exists already, or it is no longer as this needs it.",
  pending: "It waits for somebody: a second person, or a confirmation.",
  unavailable: "The server or a part of it cannot be reached, or has too much to do; try again.",
  verificationFailed: "A verification found a difference.",
};

export const exitCodeRows: readonly { readonly exit_code: number; readonly meaning: string }[] = [
  ...(Object.keys(exitCodes) as (keyof typeof exitCodes)[]).map((name) => ({
    exit_code: exitCodes[name],
    meaning: sentences[name],
  })),
  { exit_code: interruptedExit, meaning: "Ctrl-C." },
];

export const environmentRows: readonly { readonly name: string; readonly meaning: string }[] = [
  { name: "PORTCULLIS_URL", meaning: "The server; --server goes before it, the profile's server after it." },
  { name: "PORTCULLIS_PROFILE", meaning: "The profile's name; --profile goes before it; else `default`." },
  {
    name: "PORTCULLIS_TOKEN",
    meaning: "A token, used as it is instead of the profile's login: for scripts and machines.",
  },
  {
    name: "PORTCULLIS_DATA_DIR",
    meaning: "The data folder of the platform on this machine, for up, down, doctor and --dev.",
  },
  { name: "XDG_CONFIG_HOME", meaning: "Logins are kept in portcullis/profiles below it; else below ~/.config." },
  {
    name: "XDG_STATE_HOME",
    meaning: "The log of `ctl up --detach` is in portcullis below it; else below ~/.local/state.",
  },
  {
    name: "NODE_EXTRA_CA_CERTS",
    meaning:
      "A file with the certificate authority of a server that speaks https, as PEM, where it is not a public one.",
  },
  { name: "NO_COLOR", meaning: "When not empty: no colour anywhere." },
  { name: "CLICOLOR_FORCE", meaning: "When not empty or 0: colour also where no terminal is." },
];

export function exitCodePage(): Answer {
  return {
    data: exitCodeRows,
    text: pairs(exitCodeRows.map((row) => [String(row.exit_code).padStart(3), row.meaning])),
  };
}

export function environmentPage(): Answer {
  return { data: environmentRows, text: pairs(environmentRows.map((row) => [row.name, row.meaning])) };
}
