// Files that the bundler turns into names.
declare module "*.css";
