// What the risk officer answers: a verdict and one sentence. It can only take away: an order that another gate denied never gets here.
import { z } from "zod";

export const riskOfficerVerdict = z.object({
  verdict: z.enum(["PASS", "VETO"]),
  /** One sentence for the record. */
  reason: z.string().max(1_000),
});
