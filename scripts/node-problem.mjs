/**
 * The oldest Node that all packages support. Commander and vitest do not support older versions.
 */
const MIN_NODE = { major: 22, minor: 12 };

/**
 * Why this Node cannot run the scripts, with a remedy; `null` if it can. This file is plain
 * JavaScript without packages, because an old Node must parse it. @param {string} version @param
 * {string} platform @returns {string | null}
 */
export function nodeProblem(version, platform) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > MIN_NODE.major || (major === MIN_NODE.major && minor >= MIN_NODE.minor)) return null;
  const needed = `Node ${MIN_NODE.major}.${MIN_NODE.minor} or newer is needed; this is Node ${version}.`;
  if (platform !== "linux") return `${needed} Install Node 24: https://nodejs.org`;
  return `${needed} \`npm ci\` installs Node 24 as an optional package, and \`npm run\` uses it. Run \`npm ci\` without --omit=optional, then start the script with \`npm run\`.`;
}
