package carried

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// statement is one that a service sends.
type statement struct {
	where    string // file and line
	function string // that sends it
	sql      string
}

const (
	libs    = "github.com/patient-mesh/patient-mesh/libs/"
	sending = libs + "pg"
)

// wrappers is the packages that add something to the statements of others and send them.
func wrappers() []string {
	return []string{sending, libs + "audit", libs + "outbox", libs + "idempotency"}
}

// goPackage is what `go list` tells of one.
type goPackage struct {
	ImportPath, Dir, Export string
	GoFiles, Imports        []string
	DepOnly                 bool
}

// find gives every statement of the packages at a folder and below, and of the libraries that send some for them.
func find(ctx context.Context, dir string, built map[string][]string) ([]statement, error) {
	packages, err := load(ctx, dir)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for _, p := range packages {
		exports[p.ImportPath] = p.Export
	}
	f := finder{files: token.NewFileSet(), built: built, unused: maps.Clone(built)}
	f.importer = importer.ForCompiler(f.files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, p := range packages {
		own := !p.DepOnly && slices.ContainsFunc(wrappers(), func(w string) bool { return slices.Contains(p.Imports, w) })
		if own || p.ImportPath != sending && slices.Contains(wrappers(), p.ImportPath) {
			if err := f.search(p, own); err != nil {
				return nil, fmt.Errorf("%s: %w", p.ImportPath, err)
			}
		}
	}
	for expression := range f.unused {
		f.faults = append(f.faults, fmt.Errorf("nothing sends what is built as %q", expression)) //nolint:err113 // a test's
	}
	return f.found, errors.Join(f.faults...)
}

func load(ctx context.Context, dir string) ([]goPackage, error) {
	list := exec.CommandContext(ctx, "go", "list", "-deps", "-export", "-json=ImportPath,Dir,Export,GoFiles,Imports,DepOnly", "./...")
	list.Dir, list.Stderr = dir, os.Stderr
	// As the programs are built, whatever the tests are built with: else all would be compiled once more.
	list.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath -buildvcs=false")
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var packages []goPackage
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := decoder.Decode(&p); err != nil {
			if errors.Is(err, io.EOF) {
				return packages, nil
			}
			return nil, err
		}
		packages = append(packages, p)
	}
}

// finder looks for calls that have an argument named sql.
type finder struct {
	files    *token.FileSet
	importer types.Importer
	info     types.Info
	built    map[string][]string
	unused   map[string][]string
	found    []statement
	faults   []error
}

func (f *finder) search(p goPackage, own bool) error {
	var parsed []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(f.files, filepath.Join(p.Dir, name), nil, 0)
		if err != nil {
			return err
		}
		parsed = append(parsed, file)
	}
	f.info = types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: f.importer}
	if _, err := config.Check(p.ImportPath, f.files, parsed, &f.info); err != nil {
		return err
	}
	for _, file := range parsed {
		for _, declared := range file.Decls {
			function, _ := declared.(*ast.FuncDecl)
			if function == nil {
				continue
			}
			ast.Inspect(function, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					f.call(call, function, own)
				}
				return true
			})
		}
	}
	return nil
}

func (f *finder) call(call *ast.CallExpr, within *ast.FuncDecl, own bool) {
	at := f.sql(call)
	if at < 0 {
		return
	}
	where := f.files.Position(call.Pos())
	s := statement{where: filepath.Base(where.Filename) + ":" + fmt.Sprint(where.Line), function: within.Name.Name}
	argument := call.Args[at]
	if value := f.info.Types[argument].Value; value != nil {
		s.sql = constant.StringVal(value)
		f.found = append(f.found, s)
		return
	}
	if f.passes(argument, within) || f.wraps(argument) { // whoever gave it is looked at
		return
	}
	if list := f.assigned(argument, within); list != nil {
		f.add(s, list)
		return
	}
	key := within.Name.Name + ": " + types.ExprString(argument)
	list := f.built[key]
	if own && len(list) == 0 {
		f.faults = append(f.faults, fmt.Errorf("%s: say what is built as %q", s.where, key)) //nolint:err113 // a test's
	}
	delete(f.unused, key)
	f.add(s, list)
}

func (f *finder) add(s statement, texts []string) {
	for _, sql := range texts {
		s.sql = sql
		f.found = append(f.found, s)
	}
}

// sql is which of a call's arguments is a statement, if one is.
func (f *finder) sql(call *ast.CallExpr) int {
	called := ast.Unparen(call.Fun)
	if generic, ok := called.(*ast.IndexExpr); ok {
		called = generic.X
	}
	name, _ := called.(*ast.Ident)
	if selected, ok := called.(*ast.SelectorExpr); ok {
		name = selected.Sel
	}
	if name == nil {
		return -1
	}
	function, ok := f.info.Uses[name].(*types.Func)
	if !ok || function.Pkg() == nil || !strings.HasPrefix(function.Pkg().Path(), libs) && function.Pkg().Path() != f.at() {
		return -1
	}
	parameters := function.Signature().Params()
	for n := range parameters.Len() {
		if parameters.At(n).Name() == "sql" {
			return n
		}
	}
	return -1
}

// at is the package that is looked at.
func (f *finder) at() string {
	for _, object := range f.info.Defs {
		if object != nil && object.Pkg() != nil {
			return object.Pkg().Path()
		}
	}
	return ""
}

// passes reports whether an argument hands on, with something round it, the function's own argument named sql.
func (f *finder) passes(argument ast.Expr, within *ast.FuncDecl) bool {
	handed := false
	ast.Inspect(argument, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok && name.Name == "sql" {
			object := f.info.Uses[name]
			handed = handed || object != nil && object.Pos() >= within.Type.Params.Pos() && object.Pos() <= within.Type.Params.End()
		}
		return true
	})
	return handed
}

// wraps reports whether an argument is what a function makes of a statement that it is given.
func (f *finder) wraps(argument ast.Expr) bool {
	call, ok := ast.Unparen(argument).(*ast.CallExpr)
	return ok && f.sql(call) >= 0
}

// assigned is what a local variable can hold, if that is constants alone.
func (f *finder) assigned(argument ast.Expr, within *ast.FuncDecl) []string {
	name, ok := argument.(*ast.Ident)
	if !ok || f.info.Uses[name] == nil {
		return nil
	}
	var texts []string
	constants := true
	ast.Inspect(within, func(n ast.Node) bool {
		assignment, ok := n.(*ast.AssignStmt)
		if !ok {
			return true
		}
		for n, left := range assignment.Lhs {
			variable, ok := left.(*ast.Ident)
			if !ok || f.info.ObjectOf(variable) != f.info.Uses[name] {
				continue
			}
			if n >= len(assignment.Rhs) || f.info.Types[assignment.Rhs[n]].Value == nil {
				constants = false
				continue
			}
			texts = append(texts, constant.StringVal(f.info.Types[assignment.Rhs[n]].Value))
		}
		return true
	})
	if !constants {
		return nil
	}
	return texts
}
