// Ends this process with an explanation if its Node is too old. Scripts import it first; tests run it by itself.
import { nodeProblem } from "./node-problem.mjs";

const problem = nodeProblem(process.versions.node, process.platform);
if (problem !== null) {
  console.error(problem);
  process.exit(1);
}
