// What a verb is handed: what was typed, who and where the caller is, a client that is ready to call, and the terminal for talk. Nothing of it
// is made before a verb asks for it, so that a verb which needs no server touches neither files nor network.
import type { Deprecated } from "../client/src/call-options.ts";
import { withProgress } from "./lists/progress.ts";
import { bearerOf } from "./login/bearer.ts";
import { type Flags, resolveSettings, type Settings } from "./settings.ts";
import type { Context, Surroundings } from "./verbs/verb.ts";

export interface Typed {
  readonly arguments: Readonly<Record<string, readonly string[]>>;
  /** Switches are true, values are texts, in the order typed. */
  readonly options: Readonly<Record<string, true | readonly string[]>>;
  readonly flags: Flags;
  readonly json: boolean;
}

/** Long enough for a server under load, short enough for a person. */
const timeoutMsDefault = 15_000;

/** Scripts keep working when something is left behind; whoever runs them reads why it should change. */
function tellOnce({ terminal }: Pick<Surroundings, "terminal">): (facts: Deprecated) => void {
  const reported = new Set<string>();
  return ({ operation, since, sunset }) => {
    if (reported.has(operation)) return;
    reported.add(operation);
    const until = sunset === undefined ? "" : `, and may stop answering on ${sunset}`;
    terminal.say(`${operation} is deprecated since ${since.toISOString().slice(0, 10)}${until}: update ctl.`);
  };
}

export function createContext(surroundings: Surroundings, typed: Typed): Context {
  let settings: Settings | undefined;
  const resolved = () => {
    settings ??= resolveSettings(typed.flags, surroundings.environment);
    return settings;
  };
  const valuesOf = (name: string): readonly string[] => {
    const found = typed.options[name];
    return found === undefined || found === true ? [] : found;
  };
  const connect = async (token: (() => Promise<string>) | string | undefined, timeoutMs = timeoutMsDefault) => {
    const { createClient } = await import("../client/src/client.ts");
    const { signal } = surroundings;
    const cancellable: typeof fetch = (input, init) =>
      fetch(input, { ...init, signal: init?.signal ? AbortSignal.any([init.signal, signal]) : signal });
    const fetchShown: typeof fetch = (input, init) => withProgress(surroundings, () => cancellable(input, init));
    // A person sees a failure at once and decides; a script has the exit code.
    const others = { retry: false, onDeprecated: tellOnce(surroundings) } as const;
    return createClient({ baseUrl: resolved().server.value, token, timeoutMs, fetch: fetchShown, ...others });
  };
  return {
    ...surroundings,
    json: typed.json,
    flags: typed.flags,
    settings: resolved,
    argument: (name) => typed.arguments[name]?.[0] ?? "",
    argumentsOf: (name) => typed.arguments[name] ?? [],
    switched: (name) => typed.options[name] === true,
    option: (name) => valuesOf(name).at(-1),
    optionsOf: valuesOf,
    client: (timeoutMs) => connect(() => bearerOf(resolved(), surroundings), timeoutMs),
    clientWith: (token, timeoutMs) => connect(token, timeoutMs),
  };
}
