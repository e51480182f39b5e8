// What the platform answers about itself.
import { z } from "zod";

/** Monitors add what they like to get around caches; nothing of it is read. */
export const anyQuery = z.looseObject({});

export const healthAnswer = z.object({ status: z.literal("ok") });

export const operatorHealthAnswer = z.object({
  status: z.literal("ok"),
  notes: z.array(z.string()).optional().meta({
    description: "What a part can work with and somebody should know, such as a silent broker; absent without any.",
  }),
});

export const openApiAnswer = z
  .record(z.string(), z.unknown())
  .meta({ description: "This API as an OpenAPI document." });
