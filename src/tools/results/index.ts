export { bytesWithin, estimateTokens } from "./estimate-tokens";
export * from "./large-result";
export { beforePair, previewOf } from "./preview";
export * from "./result-files";
export { showControls } from "./show-controls";
