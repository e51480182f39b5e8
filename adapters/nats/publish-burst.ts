// Publishes a run of outbox rows without waiting for each answer, and still in order whatever fails: every row but the
// first names the one before it, and the server refuses it unless that one is the last it stored. So when one is lost or
// refused, all behind it are refused too. A foreign message in between has the same effect; the rest then goes out again
// as a new run, whose first row expects nothing because everything before it has been answered.
import { messageOf } from "../../contracts/src/fault.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import type { NatsLink } from "./connect.ts";
import { encodeHeaders } from "./wire.ts";

export interface OutboxRow {
  readonly id: bigint;
  readonly eventId: string;
  readonly at: Instant;
  readonly subject: string;
  readonly key: string;
  readonly source: string;
  readonly payload: string;
}

export interface BurstResult {
  /** Rows from the beginning that the server has, without a hole. */
  readonly storedCount: number;
  /** Where the last of them lies in the stream. */
  readonly lastSequence: number | undefined;
  /** Why the next one is not there; undefined when all are, or when somebody else's message merely came in between. */
  readonly failure: string | undefined;
}

const wrongLastMessageId = 10_070;

export async function publishBurst(
  link: NatsLink,
  streamName: string,
  rows: readonly OutboxRow[],
  answerMsMax: number,
): Promise<BurstResult> {
  const answers: (Answer | undefined)[] = rows.map(() => undefined);
  const publishing = rows.map(async (row, index) => {
    const before = rows[index - 1];
    const expect = before === undefined ? { streamName } : { streamName, lastMsgID: before.eventId };
    const { eventId: id, subject, key, at, source } = row;
    const headers = encodeHeaders({ id, subject, key, at, source }, row.id);
    try {
      const answer = await link.stream.publish(subject, row.payload, {
        msgID: id,
        headers,
        timeout: answerMsMax,
        expect,
      });
      answers[index] = { sequence: answer.seq };
    } catch (thrown) {
      answers[index] = { thrown };
    }
  });
  // A lost connection leaves the rest without an answer, which is a failure like any other.
  await link.unlessLost(Promise.all(publishing)).catch((thrown: unknown) => answers.push({ thrown }));
  const failed = answers.findIndex((answer) => answer?.sequence === undefined);
  if (failed === -1) return { storedCount: rows.length, lastSequence: answers.at(-1)?.sequence, failure: undefined };
  const reason = answers[failed]?.thrown ?? answers.at(-1)?.thrown;
  const interleaved = failed > 0 && codeOf(reason) === wrongLastMessageId;
  const lastSequence = failed === 0 ? undefined : answers[failed - 1]?.sequence;
  return {
    storedCount: Math.min(failed, rows.length),
    lastSequence,
    failure: interleaved ? undefined : messageOf(reason),
  };
}

interface Answer {
  readonly sequence?: number;
  readonly thrown?: unknown;
}

function codeOf(thrown: unknown): number | undefined {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "number" ? thrown.code : undefined;
}
