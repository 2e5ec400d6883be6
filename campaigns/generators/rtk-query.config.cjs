module.exports = {
  schemaFile: './openapi.json',
  apiFile: './rtk-query-api.ts',
  apiImport: 'api',
  outputFile: './catalogue/api.ts',
  exportName: 'catalogue',
  hooks: false,
};
