// esbuild takes styles along; for types they are nothing.
declare module "*.css";
