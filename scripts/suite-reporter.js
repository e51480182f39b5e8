// What a run of the suite found, as one JSON file for scripts/test.js: counts, and for each file that failed every error with its causes. Vitest's own
// JSON has no causes, and these say whether somebody waited in vain or saw a wrong value.
import { writeFileSync } from "node:fs";
import { relative } from "node:path";

const causesMax = 8;

/**
 * @typedef {{ name: string, message: string, code?: string, operator?: string, cause?: Failure }} Failure
 * @typedef {{ file: string, tests: { name: string, failures: Failure[] }[] }} FailedFile
 * @typedef {{ passed: number, failed: number, skipped: number, files: { file: string, passed: number }[], failedFiles: FailedFile[], unhandled: Failure[] }} SuiteResult
 */

/** @param {any} error @returns {Failure} */
function failureOf(error, depth = 0) {
  const { name, message, code, cause } = typeof error === "object" && error !== null ? error : { message: error };
  return {
    name: String(name ?? "Error"),
    message: String(message ?? ""),
    ...(code === undefined ? {} : { code: String(code) }),
    ...(cause === undefined || cause === null || depth >= causesMax ? {} : { cause: failureOf(cause, depth + 1) }),
  };
}

export default class SuiteReporter {
  /** @param {any} vitest */
  onInit(vitest) {
    this.root = vitest.config.root;
  }

  /** @param {readonly any[]} testModules @param {readonly any[]} unhandledErrors */
  onTestRunEnd(testModules, unhandledErrors) {
    const place = process.env["PORTCULLIS_TEST_REPORT"];
    if (place === undefined) return;
    /** @type {SuiteResult} */
    const result = { passed: 0, failed: 0, skipped: 0, files: [], failedFiles: [], unhandled: [] };
    for (const testModule of testModules) this.#add(result, testModule);
    result.unhandled = unhandledErrors.map((error) => failureOf(error));
    writeFileSync(place, JSON.stringify(result));
  }

  /** @param {SuiteResult} result @param {any} testModule */
  #add(result, testModule) {
    const file = relative(this.root, testModule.moduleId);
    let passed = 0;
    const tests = [];
    for (const test of testModule.children.allTests()) {
      const { state, errors } = test.result();
      if (state === "passed") passed += 1;
      else if (state === "skipped") result.skipped += 1;
      else tests.push({ name: test.fullName, failures: (errors ?? []).map((error) => failureOf(error)) });
    }
    // A file that cannot be loaded, or whose hooks fail, has errors of its own, and perhaps no test that failed.
    const around = [testModule, ...testModule.children.allSuites()];
    for (const one of around) {
      const failures = one.errors().map((error) => failureOf(error));
      if (failures.length > 0) tests.push({ name: one === testModule ? "(file)" : one.fullName, failures });
    }
    result.passed += passed;
    result.failed += tests.length;
    result.files.push({ file, passed });
    if (tests.length > 0) result.failedFiles.push({ file, tests });
  }
}
