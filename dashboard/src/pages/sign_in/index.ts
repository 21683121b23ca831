export { SignInPage } from "./sign_in_page.js";
