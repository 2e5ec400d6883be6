/** A declaration `import … from '…'` or `export … from '…'`, or an import for its effects, at the start of a statement. */
const DECLARATION =
  /(?:^|[;}])\s*(?:(?:import|export)\b[^;'"`()=]*?\bfrom|import)\s*(?:'([^']+)'|"([^"]+)")/gm;

/** The modules that a compiled module imports, as it names them. */
export function importsOf(source: string): string[] {
  return [...source.matchAll(DECLARATION)].map(([, single, double = '']) => single ?? double);
}
