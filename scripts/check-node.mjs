// Ends the process with a message if Node is too old. Scripts import this module first, and
// `npm test` runs it as a program.
import { nodeProblem } from "./node-problem.mjs";

const problem = nodeProblem(process.versions.node, process.platform);
if (problem !== null) {
  console.error(problem);
  process.exit(1);
}
