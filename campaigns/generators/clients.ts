import { cpSync, mkdirSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { AT_NIGHT } from '../../tests/support/run-settings.js';
import { pathWith, sizeOf, type Toolbox } from './toolbox.js';

/** Skips the optimizing compiler: the programs are short. */
const SHORT_LIVED = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];

/** Uses the types of the client, but does not report what is wrong inside it. */
const CHECK_TYPES = ['--strict', '--follow-imports=silent', 'main.py'];

/** Uses a tool on the document. @returns how much it did */
export type UseTool = (tools: Toolbox, document: string) => Promise<string>;

/**
 * Each generates a client from the document, compiles it with a program of `programs/`, and runs the program against
 * the service. It returns the size of what was generated.
 */
export const CLIENTS: Readonly<Record<string, UseTool>> = {
  'openapi-generator python': async (tools, document) => {
    const python = await tools.python();
    const folder = join(python, 'openapi_generator');
    await openapiGenerator(tools, 'python', document, folder, 'packageName=catalogue');
    tools.copy('programs/openapi_generator.py', join(folder, 'main.py'));
    await tools.run('../bin/python', ['main.py'], folder);
    await tools.run('../bin/mypy', CHECK_TYPES, folder);
    return sizeOf(join(folder, 'catalogue'));
  },

  'openapi-python-client': async (tools, document) => {
    const python = await tools.python();
    const folder = join(python, 'openapi_python_client');
    mkdirSync(folder);
    tools.copy('openapi-python-client.yaml', join(folder, 'config.yaml'));
    const args = ['--path', document, '--config', 'config.yaml', '--meta', 'none', '--output-path', 'catalogue'];
    await tools.run('openapi-python-client', ['generate', ...args], folder, pathWith(join(python, 'bin')));
    tools.copy('programs/openapi_python_client.py', join(folder, 'main.py'));
    await tools.run('../bin/python', ['main.py'], folder);
    await tools.run('../bin/mypy', CHECK_TYPES, folder);
    return sizeOf(join(folder, 'catalogue'));
  },

  'openapi-generator go': async (tools, document) => {
    const go = await tools.go();
    const folder = join(go, 'openapi_generator');
    await openapiGenerator(tools, 'go', document, join(folder, 'catalogue'), 'packageName=catalogue,withGoMod=false');
    tools.copy('programs/openapi_generator.go', join(folder, 'main.go'));
    await tools.run('go', ['run', './openapi_generator'], go);
    return sizeOf(join(folder, 'catalogue'));
  },

  'oapi-codegen': async (tools, document) => {
    const go = await tools.go();
    const folder = join(go, 'oapi_codegen');
    mkdirSync(join(folder, 'catalogue'), { recursive: true });
    const args = ['-generate', 'types,client', '-package', 'catalogue', '-o', 'oapi_codegen/catalogue/client.go'];
    await tools.run('./oapi-codegen', [...args, document], go);
    tools.copy('programs/oapi_codegen.go', join(folder, 'main.go'));
    await tools.run('go', ['run', './oapi_codegen'], go);
    return sizeOf(join(folder, 'catalogue'));
  },

  'openapi-generator java': async (tools, document) => {
    const java = await tools.java();
    await openapiGenerator(tools, 'java', document, join(java, 'catalogue'), 'useSingleRequestParameter=true');
    const sources = join(java, 'catalogue', 'src', 'main', 'java');
    const files = readdirSync(sources, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.java'))
      .map((name) => join(sources, name));
    tools.copy('programs/OpenapiGenerator.java', join(java, 'OpenapiGenerator.java'));
    const javac = ['-J-XX:TieredStopAtLevel=1', '-proc:none', '-cp', 'lib/*', '-d', 'classes'];
    await tools.run('javac', [...javac, 'OpenapiGenerator.java', ...files], java);
    await tools.run('java', [...SHORT_LIVED, '-cp', 'classes:lib/*', 'OpenapiGenerator'], java);
    return sizeOf(sources);
  },

  'openapi-generator ruby': async (tools, document) => {
    const folder = join(await tools.java(), 'ruby');
    await openapiGenerator(tools, 'ruby', document, folder, 'gemName=catalogue,library=typhoeus');
    tools.copy('programs/openapi_generator.rb', join(folder, 'main.rb'));
    await tools.run('ruby', ['-Ilib', 'main.rb'], folder);
    return sizeOf(join(folder, 'lib'));
  },

  'openapi-generator php': async (tools, document) => {
    const folder = join(await tools.java(), 'php');
    await openapiGenerator(tools, 'php', document, folder, 'invokerPackage=Catalogue');
    tools.copy('programs/openapi_generator.php', join(folder, 'main.php'));
    await tools.run('php', ['main.php'], folder);
    return sizeOf(join(folder, 'lib'));
  },

  'openapi-generator typescript-fetch': async (tools, document) => {
    const folder = join(await tools.npm(), 'typescript-fetch');
    await openapiGenerator(tools, 'typescript-fetch', document, join(folder, 'catalogue'), '');
    return runTypeScript(tools, folder, 'typescript-fetch.ts');
  },

  'hey-api': async (tools, document) => {
    const npm = await tools.npm();
    const folder = join(npm, 'hey-api');
    mkdirSync(folder);
    await tools.run('node_modules/.bin/openapi-ts', ['-i', document, '-o', join(folder, 'catalogue')], npm);
    return runTypeScript(tools, folder, 'hey-api.ts');
  },

  'openapi-fetch': async (tools, document) => {
    const npm = await tools.npm();
    const folder = join(npm, 'openapi-fetch');
    const schema = join(folder, 'catalogue', 'schema.ts');
    mkdirSync(join(folder, 'catalogue'), { recursive: true });
    await tools.run('node_modules/.bin/openapi-typescript', [document, '-o', schema], npm);
    return runTypeScript(tools, folder, 'openapi-fetch.ts');
  },

  'rtk-query': async (tools, document) => {
    const folder = join(await tools.npm(), 'rtk-query');
    mkdirSync(folder);
    cpSync(document, join(folder, 'openapi.json'));
    tools.copy('rtk-query.config.cjs', join(folder, 'config.cjs'));
    tools.copy('programs/rtk-query-api.ts', join(folder, 'rtk-query-api.ts'));
    mkdirSync(join(folder, 'catalogue'));
    await tools.run('../node_modules/.bin/rtk-query-codegen-openapi', ['config.cjs'], folder);
    return runTypeScript(tools, folder, 'rtk-query.ts');
  },

  kubb: async (tools, document) => {
    const folder = join(await tools.npm(), 'kubb');
    mkdirSync(folder);
    cpSync(document, join(folder, 'openapi.json'));
    tools.copy('kubb.config.js', join(folder, 'kubb.config.js'));
    tools.copy('programs/kubb-fetch.ts', join(folder, 'kubb-fetch.ts'));
    await tools.run('../node_modules/.bin/kubb', ['generate'], folder);
    return runTypeScript(tools, folder, 'kubb.ts');
  },

  orval: async (tools, document) => {
    const folder = join(await tools.npm(), 'orval');
    mkdirSync(folder);
    cpSync(document, join(folder, 'openapi.json'));
    tools.copy('orval.config.js', join(folder, 'orval.config.js'));
    tools.copy('programs/orval-fetch.ts', join(folder, 'orval-fetch.ts'));
    await tools.run('../node_modules/.bin/orval', [], folder);
    return runTypeScript(tools, folder, 'orval.ts');
  },
};

async function openapiGenerator(
  tools: Toolbox,
  generator: string,
  document: string,
  target: string,
  properties: string,
): Promise<void> {
  const withoutTestsAndDocs = 'apiTests=false,modelTests=false,apiDocs=false,modelDocs=false';
  const args = ['-g', generator, '-i', document, '-o', target, '--global-property', withoutTestsAndDocs];
  await tools.run(
    'java',
    [...SHORT_LIVED, '-jar', 'openapi-generator.jar', 'generate', ...args, `--additional-properties=${properties}`],
    await tools.java(),
  );
}

/** The compiler of the gate is that of the checkout, which is faster, and the one of the night TypeScript 5. */
const TSC = AT_NIGHT ? '../node_modules/.bin/tsc' : resolve('node_modules/.bin/tsc');

/** Checks the types as a strict project does, bundles and runs. */
async function runTypeScript(tools: Toolbox, folder: string, program: string): Promise<string> {
  tools.copy(`programs/${program}`, join(folder, 'main.ts'));
  const bundler = ['--target', 'es2022', '--module', 'esnext', '--moduleResolution', 'bundler'];
  const checks = ['--noEmit', '--strict', '--skipLibCheck', '--types', 'node'];
  await tools.run(TSC, [...checks, ...bundler, 'main.ts'], folder);
  const output = ['--bundle', '--platform=node', '--format=esm', '--log-level=warning', '--outfile=main.mjs'];
  await tools.run('../node_modules/.bin/esbuild', ['main.ts', ...output], folder);
  await tools.run('node', ['main.mjs'], folder, { NODE_EXTRA_CA_CERTS: tools.access.CATALOGUE_CA });
  return sizeOf(join(folder, 'catalogue'));
}
