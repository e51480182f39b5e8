// A witness in memory behind the log's real client: it decides as core/audit/witness.ts does, and its answers can be lost, changed or never come.
import { witnessClient } from "../../adapters/witness/submit-checkpoints.ts";
import { createTreeHash } from "../../core/audit/merkle.ts";
import { readVerifierKey } from "../../core/audit/signed-note.ts";
import { decideAddCheckpoint, type WitnessedState } from "../../core/audit/witness.ts";
import type { Witnesses } from "../../ports/witnesses.ts";
import { sha256, verifySignature, witnessSigner } from "./keys.ts";

/** `lie`: it says that it knows the log with 9,999 entries. */
export type AnswerFate = "heard" | "lost" | "away" | "never" | "lie";

export interface MemoryWitness {
  readonly url: string;
  readonly vkey: string;
  /** What it answered, the newest last. */
  readonly statuses: number[];
  state(): WitnessedState | undefined;
  /** Of the answers from now on. */
  fate: AnswerFate;
}

export interface MemoryWitnesses {
  readonly all: readonly MemoryWitness[];
  /** A client that knows nothing yet, as after a start of the log. */
  client(): Witnesses;
}

export function memoryWitnesses(options: {
  readonly count: number;
  readonly needed: number;
  /** The log's first key, as soon as there is one. */
  readonly logVkey: () => string;
  readonly nowUs: () => number;
}): MemoryWitnesses {
  const tree = createTreeHash(sha256);
  const made = Array.from({ length: options.count }, (_, at) => {
    const signer = witnessSigner(`w${at + 1}`, 21 + at);
    let state: WitnessedState | undefined;
    const witness: MemoryWitness = {
      url: `http://w${at + 1}.example/`,
      vkey: signer.key.vkey,
      statuses: [],
      fate: "heard",
      state: () => state,
    };
    const add = (body: string): { readonly status: number; readonly text: string } => {
      const key = readVerifierKey(options.logVkey(), sha256);
      const logOf = () => ({ keys: key === undefined ? [] : [key], state });
      const context = { logOf, witness: signer, tree, verifySignature, nowUs: options.nowUs() };
      const answer = decideAddCheckpoint(body, context);
      if (answer.status === 200) state = answer.keep;
      witness.statuses.push(answer.status);
      return { status: answer.status, text: answer.body };
    };
    return { witness, add };
  });
  return {
    all: made.map(({ witness }) => witness),
    client: () =>
      witnessClient(
        made.map(({ witness: { url, vkey } }) => ({ url, vkey })),
        options.needed,
        async (url, body) => {
          const asked = made.find(({ witness }) => witness.url === url);
          if (asked === undefined || asked.witness.fate === "away") throw new Error("away");
          if (asked.witness.fate === "never") return new Promise(() => undefined);
          if (asked.witness.fate === "lie") return { status: 409, text: "9999\n" };
          const answer = asked.add(body);
          if (asked.witness.fate === "lost") throw new Error("the answer was lost");
          return answer;
        },
      ),
  };
}
