// What the platform answers about itself.
import { z } from "zod";

/** Monitors add what they like to get around caches; nothing of it is read. */
export const anyQuery = z.looseObject({});

export const healthAnswer = z.object({ status: z.literal("ok") });

export const openApiAnswer = z
  .record(z.string(), z.unknown())
  .meta({ description: "This API as an OpenAPI document." });
