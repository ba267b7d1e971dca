// go-zookeeper as an adapter: go run .
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

type ask struct {
	ID        int    `json:"id"`
	Op        string `json:"op"`
	Servers   string `json:"servers"`
	Timeout   int    `json:"timeout"`
	Path      string `json:"path"`
	Data      string `json:"data"`
	Watch     bool   `json:"watch"`
	Recursive bool   `json:"recursive"`
	Scheme    string `json:"scheme"`
	Auth      string `json:"auth"`
}

var conn *zk.Conn

func do(a ask) (err error) {
	switch a.Op {
	case "connect":
		var events <-chan zk.Event
		conn, events, err = zk.Connect(strings.Split(a.Servers, ","), time.Duration(a.Timeout)*time.Millisecond)
		for err == nil && (<-events).State != zk.StateHasSession {
		}
		go func() {
			for range events {
			}
		}()
	case "addAuth":
		err = conn.AddAuth(a.Scheme, []byte(a.Auth))
	case "create":
		_, err = conn.Create(a.Path, []byte(a.Data), 0, zk.WorldACL(zk.PermAll))
	case "set":
		_, err = conn.Set(a.Path, []byte(a.Data), -1)
	case "get":
		if a.Watch {
			_, _, _, err = conn.GetW(a.Path)
		} else {
			_, _, err = conn.Get(a.Path)
		}
	case "exists":
		if a.Watch {
			_, _, _, err = conn.ExistsW(a.Path)
		} else {
			_, _, err = conn.Exists(a.Path)
		}
	case "children":
		if a.Watch {
			_, _, _, err = conn.ChildrenW(a.Path)
		} else {
			_, _, err = conn.Children(a.Path)
		}
	case "close":
		conn.Close()
	default:
		err = errors.New("it has no persistent watches")
	}
	return err
}

func main() {
	var printing sync.Mutex
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var a ask
		if json.Unmarshal(lines.Bytes(), &a) != nil {
			continue
		}
		go func() {
			said := map[string]any{"id": a.ID}
			if err := do(a); err != nil {
				said["error"] = err.Error()
			}
			text, _ := json.Marshal(said)
			printing.Lock()
			fmt.Println(string(text))
			printing.Unlock()
		}()
	}
}
