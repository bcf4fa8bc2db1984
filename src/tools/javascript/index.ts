export { hasJavascript, RUN_JAVASCRIPT_RULE } from "./javascript-rule";
export { type CodeLoader, type JavascriptRunner, javascriptRunner } from "./javascript-runner";
export { type JavascriptDependencies, runJavascriptTool } from "./run-javascript";
