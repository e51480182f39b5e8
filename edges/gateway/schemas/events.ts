// What is asked of the stream of events.
import { z } from "zod";
import { followedSubjectsMax, heartbeatS } from "../../../contracts/src/followed-events.ts";
import { idText } from "../../../contracts/src/records/fields.ts";
import { subjectLengthMax } from "../../../contracts/src/subjects.ts";
import { wholeAsked } from "./asked-numbers.ts";

export const eventsQuery = z.strictObject({
  subjects: z
    .string()
    .min(1)
    .max(followedSubjectsMax * (subjectLengthMax + 1))
    .optional()
    .meta({
      description:
        "Subjects or patterns such as `svc.v1.risk.>`, with commas between them; every subject when absent. `svc.v1.identity.>` is for admins.",
    }),
  fund_id: idText.optional().meta({ description: "Events that name another fund are left out." }),
  heartbeat_s: wholeAsked(heartbeatS.min, heartbeatS.max)
    .optional()
    .meta({
      description: `A comment comes at the latest after this many seconds of silence; ${heartbeatS.usual} when absent.`,
    }),
});
