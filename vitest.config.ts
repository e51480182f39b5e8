// Tests stand beside the code; long forms (`*.long.test.ts`) run with `npm run test:long` only.
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const long = process.env["PORTCULLIS_TEST_LONG"] === "1";

/**
 * The longest, begun first so that others fill the gaps, and none of them is left for the end. Those that start whole platforms wait more than they
 * compute, but three platforms that start at once on two cores take so long that they are given up: something else stands between them.
 */
const longestFirst = [
  "acceptance/login.test.ts",
  "sim/sim.test.ts",
  "acceptance/identity.test.ts",
  "adapters/nats/bus.test.ts",
  "acceptance/web.test.ts",
  "acceptance/main.test.ts",
  "adapters/postgres/bus/subscription-trouble.test.ts",
  "acceptance/api-reference.test.ts",
  "tidy.test.ts",
  "acceptance/bad-day.test.ts",
  "adapters/postgres/embedded/server.test.ts",
  "acceptance/idempotency.test.ts",
  "adapters/postgres/bus/bus.test.ts",
  "acceptance/external.test.ts",
  "testkit/crash-rounds/crash-rounds.test.ts",
  "acceptance/readme.test.ts",
  "adapters/postgres/migrate-login.test.ts",
  "acceptance/riskengine-codes.test.ts",
  "adapters/postgres/store.test.ts",
  "acceptance/riskengine-hostile.test.ts",
  "adapters/library-internals/internals-off.test.ts",
  "acceptance/paper-crash.test.ts",
  "contracts/src/generated.test.ts",
  "sim/watchdogs/watchdogs.test.ts",
  "supervisor/foundation.test.ts",
  "services/operations/halts/crash.test.ts",
  "bench/market-data/market-data.test.ts",
  "adapters/secrets-file/file-secrets.test.ts",
  "adapters/secrets-file/file-secrets-processes.test.ts",
  "services/operations/audit/intake/secret-watch.test.ts",
  "adapters/postgres/audit/audit-log.test.ts",
  "adapters/identity/verifier/verifier.test.ts",
  "adapters/nats/transport.test.ts",
  "adapters/grpc/health-directory.test.ts",
  "adapters/system/system.test.ts",
  "adapters/log/pino-log.test.ts",
  "adapters/http/send-stream.test.ts",
  "testkit/second-issuer.test.ts",
  "adapters/grpc/whole-answers.test.ts",
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification): number => {
      const rank = longestFirst.findIndex((name) => moduleId === `${this.ctx.config.root}/${name}`);
      return rank === -1 ? longestFirst.length : rank;
    };
    return (await super.sort(files)).sort((one, other) => rankOf(one) - rankOf(other));
  }
}

export default defineConfig({
  test: {
    include: ["**/*.test.ts"],
    exclude: ["**/node_modules/**", "dist/**", ".cache/**", ...(long ? [] : ["**/*.long.test.ts"])],
    globalSetup: ["testkit/global-setup.ts"],
    setupFiles: ["testkit/times/file-times.ts"],
    testTimeout: long ? 900_000 : 60_000,
    hookTimeout: 60_000,
    // What is waited for comes soon, or late on a busy machine; only what never comes is a failure.
    expect: { poll: { timeout: 40_000, interval: 20 } },
    pool: "forks",
    // Nothing keeps state in modules, so files may share a process: a quarter of the time went into loading the same code again.
    isolate: false,
    // Most tests wait for processes and timers, so more of them fit than there are cores.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
  },
});
