import {writeFileSync} from 'node:fs'
import {join} from 'node:path'
import ts from 'typescript'

// judge returns what is wrong with bodies in JSON, each of which must have a type of a package.
export function judge(bodies) {
  const source = bodies.map(({from, type, partial, body}, i) => `import type {${type} as T${i}} from '${from}'\nexport const body${i}: ${partial ? `Partial<T${i}>` : `T${i}`} = ${body}\n`).join('')
  const file = join(import.meta.dirname, 'bodies.mts')
  writeFileSync(file, source)
  const program = ts.createProgram([file], {
    noEmit: true, strict: true, skipLibCheck: true, target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, preserveSymlinks: true,
  })
  return ts.getPreEmitDiagnostics(program).map((d) => ts.flattenDiagnosticMessageText(d.messageText, '\n') + ' in ' + (d.file?.text.slice(d.start, d.start + 200) ?? ''))
}
