// Publishes a run of outbox rows without waiting for each answer, and still in order whatever fails: every row but the
// first names the one before it, and the server refuses it unless that one is the last it stored. So when one is lost or
// refused, all behind it are refused too. A foreign message in between has the same effect; the rest then goes out again
// as a new run, whose first row expects nothing because everything before it has been answered.
// A server keeps only the first message with an id. When that is not ours, because somebody knew the id before the relay came to it (a decision's is
// in the answer to the order), ours goes out under another id for the server: nobody can keep an event of ours from the stream.
import { randomUUID } from "node:crypto";
import { messageOf } from "../../contracts/src/fault.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import type { NatsLink } from "./connect.ts";
import { encodeHeaders, encodeHeadersAnew } from "./wire.ts";

export interface OutboxRow {
  readonly id: bigint;
  readonly eventId: string;
  readonly at: Instant;
  readonly subject: string;
  readonly key: string;
  readonly source: string;
  readonly payload: string;
}

interface BurstResult {
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
      const isTaken = answer.duplicate && !(await isOurs(link, streamName, answer.seq, row));
      answers[index] = { sequence: isTaken ? await publishAnew(link, streamName, row, answerMsMax) : answer.seq };
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

/** Whether what the server has under that number is what the relay sent before; what is gone is sent again, to be recognised by its id. */
async function isOurs(link: NatsLink, streamName: string, seq: number, row: OutboxRow): Promise<boolean> {
  const message = await link.manager.streams.getMessage(streamName, { seq });
  return message?.subject === row.subject && Buffer.from(row.payload).equals(message.data);
}

async function publishAnew(
  link: NatsLink,
  streamName: string,
  { id: position, eventId: id, subject, key, at, source, payload }: OutboxRow,
  answerMsMax: number,
): Promise<number> {
  const msgID = randomUUID();
  const headers = encodeHeadersAnew({ id, subject, key, at, source }, position, msgID);
  const answer = await link.stream.publish(subject, payload, {
    msgID,
    headers,
    timeout: answerMsMax,
    expect: { streamName },
  });
  return answer.seq;
}

interface Answer {
  readonly sequence?: number;
  readonly thrown?: unknown;
}

function codeOf(thrown: unknown): number | undefined {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "number" ? thrown.code : undefined;
}
