// Carries out what a dialog of the terminal desk asked for; what a server or the network did instead is an outcome too.

import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { clean } from "../../../contracts/src/text/clean.ts";
import { failureOf } from "../../ctl/failure.ts";
import { type Acting, act, nameOf, type Outcome, type Request } from "../../words/act.ts";

/** Never throws for what a server or network did. */
export async function actReported(request: Request, acting: Acting): Promise<void> {
  try {
    await act(request, acting);
  } catch (thrown) {
    acting.report(await failedOutcome(thrown, request));
  }
}

async function failedOutcome(thrown: unknown, { act: name, target }: Request): Promise<Outcome> {
  const { exit, code, detail, hint } = await failureOf(thrown);
  const unknown =
    exit === exitCodes.unavailable
      ? [
          `It is not known whether the ${name} of ${nameOf(target)} took effect: see the lists, and ask again if it did not.`,
        ]
      : ["Nothing was done."];
  return {
    lines: [
      `${exit === exitCodes.unavailable ? "NO ANSWER" : "REFUSED"} ${code}: ${clean(detail)}`,
      ...unknown,
      ...(hint === undefined ? [] : [clean(hint)]),
    ],
    tone: "bad",
    done: true,
  };
}
