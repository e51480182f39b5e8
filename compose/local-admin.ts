// `npm start -- --make-admin NAME`: the data folder is taken, its database started and migrated, one admin made, and everything stopped again.
import { userInfo } from "node:os";
import { makeLocalAdmin } from "../adapters/identity/administration/local-admin.ts";
import { createPasswordHashing } from "../adapters/identity/password-hashing.ts";
import { openStore } from "../adapters/records/open-store.ts";
import { Fault } from "../contracts/src/fault.ts";
import type { Log } from "../ports/log.ts";
import { basePorts, type PartInput, type Stops } from "./shared.ts";

/** What is said on stdout when it is done. */
export async function makeAdmin(input: PartInput, name: string, log: Log): Promise<string> {
  const { issuer, session_s: sessionS } = input.configuration.identity;
  if (issuer !== undefined) {
    throw refusal(`People are kept by ${issuer}: give somebody the role admin there.`);
  }
  const stops: Stops = [];
  try {
    const { ports, close } = await basePorts("gateway", input, log);
    stops.push(close);
    const { store, close: closeStore } = openStore({
      ...ports,
      database: input.database,
      hasOwnLogin: input.hasOwnLogin,
      source: "gateway",
      services: ["gateway"],
    });
    stops.push(closeStore);
    const account = userInfo().username;
    const made = await makeLocalAdmin(
      { ...ports, store, hashing: createPasswordHashing(ports.timers), sessionS, account },
      name,
    );
    if (!made.ok) throw refusal(made.denial.reason);
    return saidOf(name, made.password, made.others);
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

function saidOf(name: string, password: string, others: readonly string[]): string {
  const next =
    others.length === 0
      ? "It takes two admins to give anybody power: make a second one with this command."
      : `Admins who can sign besides: ${others.join(", ")}.`;
  return [
    `${name} is an admin. The password is shown now and never again:`,
    password,
    "Start the platform, log in with `ctl auth login`, and set up the second factor with `ctl auth enrol-totp` at once.",
    next,
    "",
  ].join("\n");
}

function refusal(sentence: string): Fault {
  return new Fault("PERMISSION_DENIED", sentence, { retry: "never" });
}
