// What the platform answers about itself.
import { z } from "zod";
import { loggedServices } from "../../../contracts/src/platform-services.ts";
import { booleanAsked } from "./asked-boolean.ts";
import { wholeAsked } from "./asked-numbers.ts";
import { timeText } from "./fields.ts";

const logLevelNames = ["debug", "info", "warn", "error"] as const;

/** Monitors add what they like to get around caches; nothing of it is read. */
export const anyQuery = z.looseObject({});

const insecure = z.literal(true).optional().meta({
  description:
    "The platform may be reached from other machines, or speaks to some, without TLS; absent when it does not.",
});

export const healthAnswer = z.object({ status: z.literal("ok"), insecure });

export const operatorHealthAnswer = z.object({
  status: z.literal("ok"),
  notes: z.array(z.string()).optional().meta({
    description: "What a part can work with and somebody should know, such as a silent broker; absent without any.",
  }),
  insecure,
});

export const openApiAnswer = z
  .record(z.string(), z.unknown())
  .meta({ description: "This API as an OpenAPI document." });

export const servicesAnswer = z.array(
  z.object({
    service: z.string(),
    status: z.enum(["ok", "starting", "failing"]),
    complaint: z.string().optional().meta({ description: "One sentence, when something is wrong or worth knowing." }),
    pid: z.int().optional().meta({ description: "Absent while no process of it holds a lease." }),
    host: z.string().optional(),
    started_at: timeText.optional(),
    version: z.string(),
  }),
);

export const logsParams = z.strictObject({
  service: z.enum(loggedServices, `expected one of ${loggedServices.join(", ")}`),
});

export const logsQuery = z.strictObject({
  level: z
    .enum(logLevelNames)
    .optional()
    .meta({ description: "Lines of this level and of graver ones; all when absent." }),
  since: timeText.optional().meta({ description: "Only lines from this time on." }),
  count_max: wholeAsked(1, 5_000).optional().meta({ description: "At most this many, the newest; 200 when absent." }),
  follow: booleanAsked().optional().meta({
    description:
      "Go on with what is written, as application/x-ndjson: one line each, and an empty line while nothing comes.",
  }),
});

export const linesAnswer = z.array(
  z.looseObject({
    at: z.string().meta({ description: "A time in UTC; empty for a line that has none." }),
    level: z.string(),
    service: z.string(),
    message: z.string(),
  }),
);

export const asyncApiAnswer = z
  .record(z.string(), z.unknown())
  .meta({ description: "The streams and events as an AsyncAPI document." });
