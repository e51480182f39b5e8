// Which server, which profile, which token, and who said so. A flag beats the environment, the environment beats the profile file, and the
// file beats the default; every value remembers its source, because a forgotten variable is the classic reason to be somebody else.
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { Refusal, usageRefusal } from "./failure.ts";
import { type Profile, profileOnDisk } from "./login/profile.ts";
import type { Environment } from "./terminal.ts";

const serverVariable = "PORTCULLIS_URL";
const profileVariable = "PORTCULLIS_PROFILE";
export const tokenVariable = "PORTCULLIS_TOKEN";
const defaultServer = "http://127.0.0.1:8080";

interface Named {
  readonly value: string;
  /** "--server", "PORTCULLIS_URL", a file's path, or "default". */
  readonly from: string;
}

export interface Settings {
  readonly profile: Named;
  readonly server: Named;
  readonly profilePath: string;
  /** What the profile file holds; undefined when there is none. */
  readonly stored: Profile | undefined;
  /** What is wrong with a file that is there and holds no profile; such a file counts as none until somebody needs a login. */
  readonly damaged: Refusal | undefined;
  /** The token from the environment, which beats the file's. */
  readonly token: string | undefined;
}

export interface Flags {
  readonly server?: string | undefined;
  readonly profile?: string | undefined;
}

export function configFolder(environment: Environment): string {
  const named = environment["XDG_CONFIG_HOME"];
  // A relative path there is to be ignored, says the specification of these folders.
  const base = named !== undefined && isAbsolute(named) ? named : join(environment["HOME"] || homedir(), ".config");
  return join(base, "portcullis");
}

export function profileNamed(flags: Flags, environment: Environment): Named {
  const named: Named =
    flags.profile !== undefined
      ? { value: flags.profile, from: "--profile" }
      : (present(environment[profileVariable], profileVariable) ?? { value: "default", from: "default" });
  // A name becomes part of a path, so it may not be able to leave its folder.
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(named.value)) {
    throw usageRefusal(
      `The profile name from ${named.from} is not usable: letters, digits, dot, dash and underscore, at most 64, the first a letter or digit.`,
    );
  }
  return named;
}

/** A hint for whoever uses this profile: the commands in it that depend on the login name the profile, unless they do already. */
export function hintFor(text: string, profileName: string): string {
  if (profileName === "default") return text;
  return text.replaceAll(/(^|`)ctl (auth|doctor)\b(?![^`]*--profile)/g, `$1ctl --profile ${profileName} $2`);
}

export function profilePathOf(environment: Environment, name: string): string {
  return join(configFolder(environment), "profiles", `${name}.json`);
}

export function resolveSettings(flags: Flags, environment: Environment): Settings {
  const profile = profileNamed(flags, environment);
  const profilePath = profilePathOf(environment, profile.value);
  const found = profileOnDisk(profilePath);
  const [stored, damaged] = found instanceof Refusal ? [undefined, found] : [found, undefined];
  const server: Named =
    (flags.server !== undefined ? { value: flags.server, from: "--server" } : undefined) ??
    present(environment[serverVariable], serverVariable) ??
    (stored !== undefined ? { value: stored.server, from: profilePath } : undefined) ??
    ({ value: defaultServer, from: "default" } as const);
  const token = present(environment[tokenVariable], tokenVariable)?.value.trim();
  if (token !== undefined && !/^[\x21-\x7e]{1,8192}$/.test(token)) {
    throw usageRefusal(
      `${tokenVariable} does not hold a token: it has spaces, line breaks or other characters that none has.`,
    );
  }
  return { profile, profilePath, stored, damaged, token, server: { ...server, value: normalServer(server) } };
}

function present(value: string | undefined, from: string): Named | undefined {
  return value === undefined || value === "" ? undefined : { value, from };
}

/** The one spelling of a server's address, so that two spellings of one server compare as equal. */
function normalServer({ value, from }: Named): string {
  let url: URL;
  try {
    url = new URL(value);
  } catch {
    // The reason is always the same: it is no URL.
    throw usageRefusal(`The server from ${from} is not a URL such as ${defaultServer}.`);
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw usageRefusal(`The server from ${from} must begin with http:// or https://.`);
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw usageRefusal(`The server from ${from} must be an address alone: no user, password, query or fragment.`);
  }
  return `${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, "")}`;
}

/** Plain HTTP is for this machine only: anywhere else a token could be read on the way. */
export function isLoopback(address: string): boolean {
  const { hostname } = new URL(address);
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}
