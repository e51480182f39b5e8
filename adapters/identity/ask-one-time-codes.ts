// One-time codes that come with the request they are for, asked of the gateway, which keeps second factors: the question and its answer are rows
// (answer-one-time-codes.ts), so that whoever lifts halts reads no second factor and has no key.
import type { Denial } from "../../contracts/src/codes.ts";
import type { OneTimeCodes } from "../../ports/one-time-codes.ts";
import type { Random } from "../../ports/random.ts";
import type { Timers } from "../../ports/timers.ts";
import type { PostgresStore } from "../postgres/store.ts";
import { questionMsMax } from "./answer-one-time-codes.ts";

interface AskCodesOptions {
  readonly store: PostgresStore;
  readonly timers: Timers;
  readonly random: Random;
  /** How long an answer is waited for; default `questionMsMax`. */
  readonly waitMsMax?: number;
}

/** An answer takes milliseconds, and a person waits for it. */
const lookEveryMs = 20;

export function createOneTimeCodes({
  store,
  timers,
  random,
  waitMsMax = questionMsMax,
}: AskCodesOptions): OneTimeCodes {
  /** Undefined while there is none. */
  async function answerOf(questionId: string): Promise<{ readonly denial?: Denial } | undefined> {
    const row = await store.transactSql("identity.code_look", async (_unit, sql) => {
      const text = "select accepted, denial from code_answer where question_id = $1";
      return (await sql.read({ name: "code_answer_look", text, values: [questionId] })).rows[0];
    });
    if (row === undefined) return undefined;
    return row.accepted === true ? {} : { denial: row.denial ?? unanswered };
  }

  return {
    async prove(identity, { action, parameters }, code) {
      const id = random.uuid();
      const values = [id, identity.subject, identity.actor, action, JSON.stringify(parameters), plain(code)];
      const isAsked = await store.transactSql("identity.code_ask", async (_unit, sql) => {
        const text = "select ask_code($1, $2, $3, $4, $5, $6) as asked";
        return (await sql.write({ name: "code_ask", text, values })).rows[0]?.asked === true;
      });
      if (!isAsked) return unanswered;
      let isOver = false;
      const cancel = timers.after(waitMsMax, () => {
        isOver = true;
      });
      try {
        for (;;) {
          const isLast = isOver;
          const answer = await answerOf(id);
          if (answer !== undefined) return answer.denial;
          if (isLast) return unanswered;
          await timers.sleep(lookEveryMs);
        }
      } finally {
        cancel();
      }
    },
  };
}

/** What is no short plain text is no code, and counts as a wrong one. */
function plain(code: string): string {
  return /^[\x20-\x7e]{1,64}$/.test(code) ? code : "?";
}

const unanswered: Denial = {
  code: "SECOND_FACTOR_UNCHECKED",
  reason:
    "The gateway, which checks second factors, does not answer, so the code was not checked and nothing was lifted. " +
    "Halting and exits go on. Try again when `GET /v1/healthz` of the gateway answers.",
};
