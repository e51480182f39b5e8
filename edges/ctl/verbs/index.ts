// Every verb, one line each, in the order of help. Adding one is one file and one line.
import type { VerbGroup } from "../program.ts";
import { authEnrolTotp } from "./auth-enrol-totp.ts";
import { authLogin } from "./auth-login.ts";
import { authLogout } from "./auth-logout.ts";
import { authRevokeSessions } from "./auth-revoke-sessions.ts";
import { authRotateKeys } from "./auth-rotate-keys.ts";
import { authTokensIssue } from "./auth-tokens-issue.ts";
import { authTokensList } from "./auth-tokens-list.ts";
import { authTokensRevoke } from "./auth-tokens-revoke.ts";
import { authTokensRotate } from "./auth-tokens-rotate.ts";
import { authWhoami } from "./auth-whoami.ts";
import { completion } from "./completion.ts";
import { doctor } from "./doctor.ts";
import { down } from "./down.ts";
import { help } from "./help.ts";
import { up } from "./up.ts";
import type { Verb } from "./verb.ts";

export const verbs: readonly Verb[] = [
  up,
  down,
  doctor,
  authLogin,
  authWhoami,
  authLogout,
  authEnrolTotp,
  authTokensList,
  authTokensIssue,
  authTokensRotate,
  authTokensRevoke,
  authRevokeSessions,
  authRotateKeys,
  completion,
  help,
];

/** The words that only group verbs. */
export const groups: Readonly<Record<string, VerbGroup>> = {
  auth: { heading: "Who you are", sentence: "Log in and out, second factor, tokens of machines." },
  "auth tokens": { heading: "Administration", sentence: "Tokens of machines: list, issue, rotate, revoke." },
};
