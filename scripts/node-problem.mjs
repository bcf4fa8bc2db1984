/** What the strictest packages ask for (commander, vitest). */
const NEEDED = { major: 22, minor: 12 };

/**
 * Why this Node cannot run what is here; null if it can. Plain JavaScript without a package, to be understood by the oldest.
 * @param {string} version @param {string} platform @returns {string | null}
 */
export function nodeProblem(version, platform) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > NEEDED.major || (major === NEEDED.major && minor >= NEEDED.minor)) return null;
  const needed = `Node ${NEEDED.major}.${NEEDED.minor} or newer is needed; this is ${version}.`;
  if (platform !== "linux") return `${needed} Install Node 24: https://nodejs.org`;
  return `${needed} It comes with the packages: run \`npm ci\` (with the optional ones), then start everything through \`npm run\`.`;
}
