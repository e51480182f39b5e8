// The people of the halts' crash rounds: they log in, raise halts, lift them and sign for each other through either service, and write down what they
// were told. A caller that gets no answer writes down that it does not know.
import { TOTP } from "otpauth";
import type { ActiveHalts, HaltResponse, HaltStatus } from "../../contracts/src/generated/svc/v1/halt.ts";
import { testClient } from "../grpc/test-client.ts";
import { developmentOperator, logInAs } from "../login.ts";
import type { Prng } from "../virtual/prng.ts";
import type { EngineFixture } from "./engine-fixture.ts";
import { createLedger, type HaltLedger } from "./halt-ledger.ts";

export type Door = "operations" | "riskengine";
type Name = "duty" | "relief";
export type Scope = { readonly severity: string; readonly fund_id: string; readonly strategy_id?: string };

export interface HaltPeople {
  readonly ledger: HaltLedger;
  /** Before a round, while everybody answers: later there may be nobody to log in with. */
  logIn(): Promise<void>;
  /** As if half a minute had passed: a code that was shown is used up, and a round is shorter than a code. */
  freshCodes(): Promise<void>;
  halt(through: Door, scope: Scope): Promise<boolean>;
  resumeFund(through: Door, fundId: string, haltIds: readonly string[]): Promise<boolean>;
  /** The id of the request; undefined when there was no answer. */
  askForAll(through: Door, haltIds: readonly string[]): Promise<string | undefined>;
  sign(through: Door, requestId: string, haltIds: readonly string[]): Promise<boolean>;
  /** Rejects when nobody answers. */
  ask<Answer>(through: Door, method: string, request: object, deadlineMs?: number): Promise<Answer>;
}

const services = { operations: "Operations", riskengine: "RiskEngine" } as const;
const answerMsMax = 12_000;
/** For a question whose answer grows with the rounds: a check of the whole log. */
export const wholeLogMsMax = 60_000;

export function haltPeople(fixture: EngineFixture, throws: Prng): HaltPeople {
  const { witness, owner } = fixture;
  const ledger = createLedger();
  const tokens = new Map<Name, string>();

  async function call(
    name: Name,
    door: Door,
    method: string,
    request: object,
    deadlineMs = answerMsMax,
  ): Promise<unknown> {
    const [host = "", port = ""] = (fixture.platform().runFile().addresses[door] ?? "").split(":");
    const client = testClient({ host, port: Number(port) }, { token: tokens.get(name) ?? "" });
    try {
      const { status, details, answer } = await client.call(services[door], method, request, { deadlineMs });
      if (status !== "OK") throw new Error(`${method}: ${status} ${details}`);
      return answer;
    } finally {
      client.close();
    }
  }

  /** What the caller was told; undefined when it was told nothing. A refusal is something that no round asks for. */
  async function answerTo(name: Name, door: Door, method: string, request: object): Promise<unknown> {
    try {
      return await call(name, door, method, request);
    } catch (error) {
      if (!/FAILED_PRECONDITION|PERMISSION_DENIED|INVALID_ARGUMENT|UNAUTHENTICATED/.test(String(error)))
        return undefined;
      throw error;
    }
  }

  function codeOf(name: Name): string {
    const { totp_secret: secret } = developmentOperator(fixture.platform().dataFolder, name);
    return new TOTP({ secret }).generate();
  }

  /** What is under way may be decided after the lift, so the halts are held against what was sent before all of it. */
  function liftingBegins(haltIds: readonly string[]): void {
    const oldest = Math.min(witness.sends + 1, ...witness.underWay);
    for (const each of witness.halts) {
      if (haltIds.includes(each.haltId)) each.untilSend = Math.min(each.untilSend, oldest);
    }
  }

  return {
    ledger,
    async logIn() {
      for (const name of ["duty", "relief"] as const) {
        tokens.set(name, (await logInAs(fixture.platform(), name)).access_token);
      }
    },
    freshCodes: async () =>
      void (await owner.query("update portcullis.second_factor set last_step = -1, used_steps = '{}'")),
    async halt(through, scope) {
      const haltId = throws.uuid();
      ledger.unanswered.add(haltId);
      const request = { ...scope, halt_id: haltId, reason: "", requested_by: "", confirmation: "HALT" };
      const answer = (await answerTo("duty", through, "RequestHalt", request)) as HaltResponse | undefined;
      if (answer === undefined) return false;
      ledger.unanswered.delete(haltId);
      ledger.answered.add(haltId);
      if (answer.acknowledged) {
        witness.halts.push({ haltId, fromSend: witness.sends, untilSend: Number.POSITIVE_INFINITY });
      }
      return true;
    },
    async resumeFund(through, fundId, haltIds) {
      const lift = { haltIds, requestedBy: "operator:duty", cosignedBy: "operator:duty", wasAnswered: false };
      ledger.lifts.push(lift);
      liftingBegins(haltIds);
      const request = { fund_id: fundId, reason: "over", confirmation: "RESUME", halt_ids: [...haltIds] };
      lift.wasAnswered = (await answerTo("duty", through, "ResumeHalt", request)) !== undefined;
      return lift.wasAnswered;
    },
    async askForAll(through, haltIds) {
      const words = { reason: "over", confirmation: "RESUME", one_time_code: codeOf("duty") };
      const answer = await answerTo("duty", through, "ResumeHalt", { ...words, halt_ids: [...haltIds] });
      return (answer as HaltStatus | undefined)?.request_id;
    },
    async sign(through, requestId, haltIds) {
      const people = { requestedBy: "operator:duty", cosignedBy: "operator:relief" };
      const lift = { haltIds, ...people, requestId, wasAnswered: false };
      const words = { confirmation: "RESUME", one_time_code: codeOf("relief"), request_id: requestId };
      ledger.lifts.push(lift);
      liftingBegins(haltIds);
      lift.wasAnswered = (await answerTo("relief", through, "ResumeHalt", { ...words, halt_ids: [] })) !== undefined;
      return lift.wasAnswered;
    },
    ask: async <Answer>(through: Door, method: string, request: object, deadlineMs?: number) =>
      (await call("duty", through, method, request, deadlineMs)) as Answer,
  };
}

export async function listedHalts(people: HaltPeople): Promise<readonly string[]> {
  const { halts } = await people.ask<ActiveHalts>("operations", "ListActiveHalts", {});
  return halts.map(({ halt_id: id }) => id ?? "");
}
