/** The folder of package.json. Modules and bundles are both two folders below it, in `dist/shared` and `dist/bundle`. */
export const ROOT_FOLDER = new URL('../../', import.meta.url);
