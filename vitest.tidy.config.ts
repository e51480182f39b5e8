// `npm run check` runs the architecture test alone, without the servers that the whole suite starts.
import { defineConfig } from "vitest/config";

export default defineConfig({ test: { include: ["tidy.test.ts"], testTimeout: 120_000 } });
