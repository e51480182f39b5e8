// What must be true of the engine whatever was killed, judged from witnesses that survive every kill: what clients were answered
// (engine-witness.ts), the journal, the halts, and what a subscriber heard. A pure function, so that engine-verdict.test.ts can show each
// rule failing.
//
//  1. Every decision that a client received is in the journal, approved or denied as the client was told, with the same bytes.
//  2. No key has two first decisions within five minutes, neither in the journal nor in the answers.
//  3. A repetition is refused as one: the same order with its first decision attached, as the journal has it; another one as KEY_REUSED.
//  4. An order that was sent again because its answer was lost has its first decision or is told it.
//  5. No approval of new risk carries an epoch at which a halt of its scope was in force.
//  6. No order that was sent after a halt was acknowledged, and before lifting began, is approved unless it is a marked reduction.
//  7. A subscriber hears of every decision in the journal, of its denying gate, and of nothing else.
import { covers, haltOver, type JudgedHalt, type JudgedTime } from "../halt-judge.ts";
import type { AcknowledgedHalt, Answer } from "./engine-witness.ts";

export interface JournalDecision {
  readonly id: bigint;
  readonly atMicroseconds: number;
  readonly decisionId: string;
  readonly key: string;
  readonly approved: boolean;
  readonly code: string;
  readonly digest: string;
  readonly fundId: string;
  readonly strategyId: string;
  readonly reduceOnly: boolean;
  readonly classification: string;
  readonly haltEpoch: number;
  /** The ids under which the bus tells of it: itself, and its denying gate. */
  readonly messageIds: readonly string[];
}

export interface StoredHalt extends JudgedHalt, JudgedTime {
  readonly haltId: string;
}

export interface EngineEvidence {
  readonly answers: readonly Answer[];
  /** In the order of the journal. */
  readonly decisions: readonly JournalDecision[];
  readonly acknowledged: readonly AcknowledgedHalt[];
  readonly halts: readonly StoredHalt[];
  /** How often the subscriber was handed each message. */
  readonly heard: ReadonlyMap<string, number>;
}

const keyWindowMicroseconds = 300_000_000;
const shownMax = 5;
const repetitions: ReadonlySet<string> = new Set(["DUPLICATE_KEY", "KEY_REUSED"]);

/** Everything that is wrong, one sentence each. */
export function judgeEngine(evidence: EngineEvidence): readonly string[] {
  const byId = new Map(evidence.decisions.map((decision) => [decision.decisionId, decision]));
  return [
    ...judgeAnswers(evidence, byId),
    ...judgeKeys(evidence, byId),
    ...judgeRepetitions(evidence, byId),
    ...judgeHalts(evidence),
    ...judgeDelivery(evidence),
  ];
}

type ById = ReadonlyMap<string, JournalDecision>;
const nameOf = ({ orderId, decisionId }: Answer): string => `${orderId} (${decisionId})`;

function judgeAnswers({ answers }: EngineEvidence, byId: ById): readonly string[] {
  const missing = answers.filter(({ decisionId }) => !byId.has(decisionId));
  const changed = answers.filter((answer) => {
    const stored = byId.get(answer.decisionId);
    return stored !== undefined && (stored.approved !== answer.approved || stored.digest !== answer.digest);
  });
  return [
    ...complain("approvals that were answered are not in the journal", missing.filter(isApproved).map(nameOf)),
    ...complain("denials that were answered are not in the journal", missing.filter(isDenied).map(nameOf)),
    ...complain("answers differ from the journal", changed.map(nameOf)),
  ];
}

const isApproved = ({ approved }: Answer): boolean => approved;
const isDenied = ({ approved }: Answer): boolean => !approved;

function judgeKeys({ answers, decisions }: EngineEvidence, byId: ById): readonly string[] {
  const firsts = (among: readonly JournalDecision[]): readonly string[] => {
    const newest = new Map<string, number>();
    return among.flatMap(({ key, code, atMicroseconds }) => {
      if (repetitions.has(code)) return [];
      const before = newest.get(key);
      newest.set(key, atMicroseconds);
      return before !== undefined && atMicroseconds - before < keyWindowMicroseconds ? [key] : [];
    });
  };
  const answered = new Set(answers.map(({ decisionId }) => decisionId));
  const reported = [...answered].flatMap((decisionId) => byId.get(decisionId) ?? []);
  reported.sort((left, right) => left.atMicroseconds - right.atMicroseconds);
  return [
    ...complain("keys have two first decisions in the journal", firsts(decisions)),
    ...complain("keys have two first decisions among the answers", firsts(reported)),
  ];
}

function judgeRepetitions({ answers, decisions }: EngineEvidence, byId: ById): readonly string[] {
  const firsts = new Map<string, JournalDecision>();
  for (const decision of decisions) if (!repetitions.has(decision.code)) firsts.set(decision.key, decision);
  const hasOriginal = ({ key, originalId, originalDigest }: Answer): boolean => {
    const first = originalId === undefined ? undefined : byId.get(originalId);
    return first !== undefined && first === firsts.get(key) && first.digest === originalDigest;
  };
  const wrong = (kind: Answer["kind"], isFine: (answer: Answer) => boolean): readonly string[] =>
    answers
      .filter((answer) => answer.kind === kind && !isFine(answer))
      .map((answer) => `${nameOf(answer)} got ${answer.code || "an approval"}`);
  const namesFirst = (answer: Answer): boolean => answer.code === "DUPLICATE_KEY" && hasOriginal(answer);
  const isFirst = (answer: Answer): boolean =>
    !repetitions.has(answer.code) && firsts.get(answer.key)?.decisionId === answer.decisionId;
  return [
    ...complain("repeated orders were not told their first decision", wrong("again", namesFirst)),
    ...complain(
      "reused keys were not refused as such",
      wrong("other body", ({ code }) => code === "KEY_REUSED"),
    ),
    ...complain(
      "orders have neither their first decision nor its copy",
      wrong("first", (answer) => isFirst(answer) || (answer.tries > 1 && namesFirst(answer))),
    ),
  ];
}

interface Scoped {
  readonly fundId: string;
  readonly strategyId: string;
  readonly reduceOnly: boolean;
  readonly classification: string;
}

const orderOf = ({ fundId, strategyId }: Scoped) => ({ fund_id: fundId, strategy_id: strategyId });
const isMarkedReduction = (scoped: Scoped): boolean => scoped.classification === "REDUCE" && scoped.reduceOnly;

export function judgeHalts({ answers, decisions, halts, acknowledged }: EngineEvidence): readonly string[] {
  const duringHalt = decisions.filter(
    (decision) =>
      decision.approved &&
      !isMarkedReduction(decision) &&
      haltOver(halts, orderOf(decision), decision.haltEpoch) !== undefined,
  );
  const byId = new Map(halts.map((halt) => [halt.haltId, halt]));
  const lost = acknowledged.filter(({ haltId }) => !byId.has(haltId));
  const afterwards = answers.filter(
    (answer) =>
      answer.approved &&
      !isMarkedReduction(answer) &&
      acknowledged.some(({ haltId, fromSend, untilSend }) => {
        const halt = byId.get(haltId);
        return (
          halt !== undefined && covers(halt, orderOf(answer)) && answer.sentAt > fromSend && answer.sentAt < untilSend
        );
      }),
  );
  return [
    ...complain(
      "approvals carry an epoch of a halt that covers them",
      duringHalt.map(({ decisionId, haltEpoch }) => `${decisionId} (epoch ${haltEpoch})`),
    ),
    ...complain(
      "acknowledged halts are not stored",
      lost.map(({ haltId }) => haltId),
    ),
    ...complain("orders were approved that were sent after a halt was acknowledged", afterwards.map(nameOf)),
  ];
}

function judgeDelivery({ decisions, heard }: EngineEvidence): readonly string[] {
  const expected = new Set(decisions.flatMap(({ messageIds }) => messageIds));
  return [
    ...complain(
      "messages were never delivered",
      [...expected].filter((id) => !heard.has(id)),
    ),
    ...complain(
      "messages were delivered that the journal does not have",
      [...heard.keys()].filter((id) => !expected.has(id)),
    ),
  ];
}

function complain(sentence: string, cases: readonly string[]): readonly string[] {
  if (cases.length === 0) return [];
  const shown = cases.slice(0, shownMax).join(", ");
  return [`${cases.length} ${sentence}: ${shown}${cases.length > shownMax ? ", …" : ""}`];
}
