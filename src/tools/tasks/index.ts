export { PLAN_FILE, taskTools } from "./task-tools";
