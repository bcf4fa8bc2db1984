// Ends this process with an explanation if its Node is too old. Imported before anything else, and run by itself before tests.
import { nodeProblem } from "./node-problem.mjs";

const problem = nodeProblem(process.versions.node, process.platform);
if (problem !== null) {
  console.error(problem);
  process.exit(1);
}
