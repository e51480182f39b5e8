// What the bins share: build if stale, call the bundle's `main` with the arguments, and turn its answer into the exit code.

/**
 * @param {string} name
 * @param {() => Promise<string>} bundle
 */
export async function run(name, bundle) {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    console.error(`${name} needs Node 20.19 or newer; this is ${process.version}.`);
    process.exit(1);
  }
  let entry;
  try {
    entry = await bundle();
  } catch (error) {
    console.error(`${name} could not be built: ${error instanceof Error ? error.message : error}`);
    console.error("Run `npm install` first; if the error names a source file, `npm run check` says more.");
    process.exit(1);
  }
  const { main } = await import(entry);
  process.exitCode = await main(process.argv.slice(2));
}
