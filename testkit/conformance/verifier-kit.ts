// What the checks of the verifier suite share: how a refusal must look, how soon it must come, and how a token is tampered with.
import { expect } from "vitest";
import { revocationMsMax } from "../../contracts/src/authority.ts";
import { Fault } from "../../contracts/src/fault.ts";
import { within } from "../platform.ts";
import { printed } from "./secrets.ts";
import type { VerifierFixture } from "./verifier-fixture.ts";

export const secondsNow = (fixture: VerifierFixture): number => Math.floor(fixture.clock.now() / 1_000_000);

/** The token must be refused, with a sentence about what to do and nothing of the token in anything that is thrown. */
export async function refuses(fixture: VerifierFixture, token: string, code = "UNAUTHENTICATED"): Promise<Fault> {
  const thrown = await fixture.verifier.verify(token).then(
    (identity) => `it was accepted as ${identity.actor}`,
    (reason: unknown) => reason,
  );
  expect(thrown, String(thrown)).toBeInstanceOf(Fault);
  const fault = thrown as Fault;
  expect([fault.code, fault.message]).toEqual([code, expect.stringMatching(/: .+/)]);
  expect(fault.cause).toBeUndefined();
  const parts = token.split(/[._]/).filter((part) => part.length >= 12);
  for (const part of parts) expect(printed(fault)).not.toContain(part);
  return fault;
}

/** From one accepted look to the first refused one, which must come in time. */
export async function refusedInTime(fixture: VerifierFixture, token: string): Promise<void> {
  await within(revocationMsMax, "the token is refused", () =>
    fixture.verifier.verify(token).then(
      () => false,
      () => true,
    ),
  );
  await refuses(fixture, token);
}

export function withPart(token: string, index: number, change: (part: string) => string): string {
  return token
    .split(".")
    .map((part, at) => (at === index ? change(part) : part))
    .join(".");
}

export const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
