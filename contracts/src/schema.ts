// The type of a schema, named here so that ports can speak of schemas without importing the library that makes them.
import type { z } from "zod";

export type Schema<Value = unknown> = z.ZodType<Value>;
