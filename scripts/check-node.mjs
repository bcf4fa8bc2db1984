// Ends the process with an explanation if its Node is too old. Scripts import this module first;
// `npm test` runs it as a program.
import { nodeProblem } from "./node-problem.mjs";

const problem = nodeProblem(process.versions.node, process.platform);
if (problem !== null) {
  console.error(problem);
  process.exit(1);
}
