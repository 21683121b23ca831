export { WebhooksPage } from "./webhooks_page.js";
