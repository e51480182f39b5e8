// Tests stand beside the code; long forms (`*.long.test.ts`) run with `npm run test:long` only.
import { defineConfig } from "vitest/config";

const long = process.env["PORTCULLIS_TEST_LONG"] === "1";

export default defineConfig({
  test: {
    include: ["**/*.test.ts"],
    exclude: ["**/node_modules/**", "dist/**", ".cache/**", ...(long ? [] : ["**/*.long.test.ts"])],
    globalSetup: ["testkit/global-setup.ts"],
    testTimeout: long ? 900_000 : 30_000,
    hookTimeout: 60_000,
    pool: "forks",
    // Most tests wait for processes and timers, so more of them fit than there are cores.
    maxWorkers: 3,
  },
});
